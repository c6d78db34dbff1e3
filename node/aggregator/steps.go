package aggregator

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// steps keep what a computation has found so far, for the case that the process ends in the midst of it.
type steps struct {
	state node.AggregatorState
	study protocol.StudyID
	of    protocol.Digest // what is computed, and by which version: what another has found is not taken
}

// steps of a job.
func (c computer) steps(job session.Compute) steps {
	about := sha256.New()
	about.Write(job.T2[:])
	for _, r := range job.Releases {
		about.Write(r.ID[:])
	}
	io.WriteString(about, c.Version) // last: the others are of one length
	return steps{c.Store, c.study.ID, protocol.Digest(about.Sum(nil))}
}

// Recall returns what a step of the same computation found; nil where none did.
func (s steps) Recall(step string) ([]byte, error) {
	raw, err := s.state.Result(s.study, filename.Step(step))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	found, same := bytes.CutPrefix(raw, s.of[:])
	if err != nil || !same {
		return nil, err
	}
	return found, nil
}

func (s steps) Remember(step string, found []byte) error {
	return s.state.PutResult(s.study, filename.Step(step), append(bytes.Clone(s.of[:]), found...))
}

// clear drops what all steps found: there is a result.
func (s steps) clear() error {
	names, err := s.state.Results(s.study)
	for _, name := range names {
		if filename.IsStep(name) {
			err = errors.Join(err, s.state.DropResult(s.study, name))
		}
	}
	return err
}
