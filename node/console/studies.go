package console

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// What both commands do with studies.

// ReadStudy reads and parses a study file.
func ReadStudy(path string) (*study.Study, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading study file: %w", err)
	}
	s, err := study.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("study file %s:\n%w", path, err)
	}
	return s, nil
}

// FindStudy returns the stored study whose id begins with prefix.
func FindStudy(st *store.Store, prefix string) (*study.Study, error) {
	id, err := st.FindStudy(prefix)
	if err != nil {
		return nil, fmt.Errorf("finding study %q: %w", prefix, err)
	}
	source, err := st.Study(id)
	if err != nil {
		return nil, fmt.Errorf("finding study %q: %w", prefix, err)
	}
	s, err := study.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("reading stored study %s: %w", id.Short(), err)
	}
	return s, nil
}

// StudyOrFile takes a study file's path, or a prefix of a stored study's id.
func StudyOrFile(open func() (*store.Store, error), arg string) (*study.Study, error) {
	if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
		return ReadStudy(arg)
	}
	st, err := open()
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return FindStudy(st, arg)
}

// AddStudy stores a parsed study, unless its time is over.
func AddStudy(st *store.Store, s *study.Study, now protocol.Instant) error {
	if now >= s.Expires {
		return Expired(s)
	}
	return st.PutStudy(s.ID, s.Source, now)
}

// Expired is the error of a study whose approval has closed.
func Expired(s *study.Study) error {
	return WithCode(Usage, fmt.Errorf("study %s (%s) has expired: approval closed at %s; a new study file with a later date is another study", s.Name, s.ID.Short(), s.Expires))
}

// AddedStudy is what study add and study create print.
type AddedStudy struct {
	Study string `json:"study"`
	Name  string `json:"name"`
}

// Snapshots returns the stored status of one study, or of all where prefix is empty.
func Snapshots(st *store.Store, prefix string) ([]node.Snapshot, error) {
	var ids []protocol.StudyID
	if prefix != "" {
		id, err := st.FindStudy(prefix)
		if err != nil {
			return nil, fmt.Errorf("finding study %q: %w", prefix, err)
		}
		ids = append(ids, id)
	} else {
		entries, err := st.Studies()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			ids = append(ids, e.ID)
		}
	}
	out := []node.Snapshot{}
	for _, id := range ids {
		one, err := snapshotOf(st, id)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// snapshotOf reads a study's stored status; a study that was never served has none.
func snapshotOf(st *store.Store, id protocol.StudyID) (node.Snapshot, error) {
	raw, err := st.Status(id)
	if err == nil {
		return node.DecodeSnapshot(raw)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return node.Snapshot{}, err
	}
	source, err := st.Study(id)
	if err != nil {
		return node.Snapshot{}, err
	}
	s, err := study.Parse(source)
	if err != nil {
		return node.Snapshot{}, err
	}
	return node.Snapshot{Study: id.String(), Name: s.Name, State: "added", WaitFor: "being served", Until: s.Expires.String()}, nil
}

// WriteSnapshots prints statuses for people.
func WriteSnapshots(w io.Writer, all []node.Snapshot) {
	if len(all) == 0 {
		fmt.Fprintln(w, "no studies")
	}
	for _, s := range all {
		fmt.Fprintf(w, "%s  %s: %s", s.Study[:8], s.Name, s.State)
		if text := s.WaitText(); text != "" {
			fmt.Fprintf(w, "; waits for %s", text)
			if s.Until != "" {
				fmt.Fprintf(w, ", until %s", s.Until)
			}
		}
		fmt.Fprintln(w)
		if s.Failure != "" {
			fmt.Fprintf(w, "          %s\n", s.Failure)
		}
	}
}
