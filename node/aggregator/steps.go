package aggregator

import (
	"crypto/sha256"
	"errors"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// steps store the intermediate results of a computation, in case the process ends before it is
// done.
type steps struct {
	state node.AggregatorState
	study protocol.StudyID
	of    protocol.Digest // the inputs and the version: steps of another computation are not used
}

// steps returns the steps of a job.
func (c computer) steps(job session.Compute) steps {
	about := sha256.New()
	about.Write(job.T2[:])
	for _, r := range job.Releases {
		about.Write(r.ID[:])
	}
	io.WriteString(about, c.Version) // last: the others have a fixed length
	return steps{c.Store, c.study.ID, protocol.Digest(about.Sum(nil))}
}

// Load lets read the stored result of a step of the same computation, if there is one.
func (s steps) Load(step string, read func(io.Reader) error) (err error) {
	f, err := s.state.OpenResult(s.study, filename.Step(step))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	of, from := protocol.Digest{}, io.NewSectionReader(f, 0, f.Size())
	if _, err := io.ReadFull(from, of[:]); err != nil || of != s.of {
		return nil
	}
	return read(from)
}

// Save stores the result of a step.
func (s steps) Save(step string, write func(io.Writer) error) error {
	f, err := s.state.NewResult(s.study)
	if err != nil {
		return err
	}
	if _, err = f.Write(s.of[:]); err == nil {
		err = write(f)
	}
	if err != nil {
		f.Discard()
		return err
	}
	return f.Keep(filename.Step(step))
}

// clear drops the results of all steps, once the final result exists.
func (s steps) clear() error {
	names, err := s.state.Results(s.study)
	for _, name := range names {
		if filename.IsStep(name) {
			err = errors.Join(err, s.state.DropResult(s.study, name))
		}
	}
	return err
}
