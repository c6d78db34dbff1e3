package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// The operations on studies that both commands share.

// ReadStudy reads and parses a study file.
func ReadStudy(path string) (*study.Study, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, fail.Usage.Of(fmt.Errorf("reading study file: %w", err))
	}
	return ParseStudy(path, source)
}

// ParseStudy parses the bytes of a study file; errors name it by path.
func ParseStudy(path string, source []byte) (*study.Study, error) {
	if err := notAStudy(path, source); err != nil {
		return nil, err
	}
	s, err := studyfile.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("study file %s:\n%w", path, err)
	}
	return s, nil
}

// FindStudy returns the stored study whose id begins with prefix.
func FindStudy(st *store.Store, prefix string) (*study.Study, error) {
	id, err := findID(st, prefix)
	if err != nil {
		return nil, err
	}
	return storedStudy(st, id)
}

// FindID finds the id of a study whose file may be unreadable.
func FindID(st *store.Store, prefix string) (protocol.StudyID, error) { return findID(st, prefix) }

// findID finds the id of a study; a missing one is the caller's error.
func findID(st *store.Store, prefix string) (protocol.StudyID, error) {
	id, err := st.FindStudy(prefix)
	if err != nil {
		return id, fail.Usage.Of(err)
	}
	return id, nil
}

func storedStudy(st *store.Store, id protocol.StudyID) (*study.Study, error) {
	source, err := st.Study(id)
	if err != nil {
		return nil, err
	}
	return stored.Parse(id, source)
}

// StudyOrFile reads a study file by its path, or a stored study by a prefix of its id.
func StudyOrFile(g *Globals, role store.Role, arg string) (*study.Study, error) {
	info, absent := os.Stat(arg)
	if absent == nil && info.Mode().IsRegular() {
		return ReadStudy(arg)
	}
	st, err := g.OpenReadOnly(role)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	s, err := FindStudy(st, arg)
	if err != nil && errors.Is(absent, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; nor is it a file that is here", err)
	}
	return s, err
}

// AddStudy stores a parsed study, unless now is past until: for an aggregator the close of
// approval, for a party the last date for late parties.
func AddStudy(st *store.Store, s *study.Study, until, now protocol.Instant) error {
	if now >= until {
		return Expired(s)
	}
	return st.PutStudy(s.ID, s.Source, now)
}

// Expired returns the error of a study whose approval has closed.
func Expired(s *study.Study) error {
	return fail.Expired.New(s.Name, s.ID.Short(), s.Expires, Now())
}

// AddedStudy is the output of study add and study host.
type AddedStudy struct {
	Study   string   `json:"study"`
	Name    string   `json:"name"`
	Verdict *Verdict `json:"verdict,omitempty"` // for host and approve, if there is a forecast
}

// PrintExplained prints what a study asks of a party, or of study.Everyone.
func PrintExplained(c *Console, s *study.Study, party int) error {
	var text strings.Builder
	present.Text(&text, s.Explain(party))
	return c.Print(map[string]any{"study": s.ID.String(), "name": s.Name, "text": text.String()}, func(w io.Writer) { io.WriteString(w, text.String()) })
}
