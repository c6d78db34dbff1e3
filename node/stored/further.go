package stored

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Statements reads the further results that a node keeps of a study, oldest first. One that cannot
// be read does not affect the others: damaged names each.
func Statements(st Documents, s *study.Study) (out []protocol.Further, damaged []error, err error) {
	names, err := st.Results(s.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, filename.FurtherPrefix) || len(name) != len(filename.FurtherPrefix)+16 {
			continue
		}
		raw, err := st.Result(s.ID, name)
		if err != nil {
			return nil, nil, err
		}
		f, err := protocol.DecodeFurther(s.ID, s.Aggregator.ID, raw)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("further result %s: %w", strings.TrimPrefix(name, filename.FurtherPrefix)[:8], err))
			continue
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b protocol.Further) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Document.Hash.String(), b.Document.Hash.String()))
	})
	return out, damaged, nil
}

// ReadFurther reads the document of a further result. It returns ErrUnsigned if it is not the
// signed one.
func ReadFurther(st Documents, s *study.Study, f protocol.Further) ([]byte, error) {
	raw, err := st.Result(s.ID, filename.Further(f.Document.Hash)+".json")
	if errors.Is(err, store.ErrNotFound) || err == nil && DocumentOf(raw) != f.Document {
		err = ErrUnsigned
	}
	if err != nil {
		return nil, fmt.Errorf("further result %s: %w", f.Document.Hash.String()[:8], err)
	}
	return raw, nil
}

// Further is a further result as this node keeps it, with its signature verified.
type Further struct {
	Statement protocol.Further
	Result    analysis.Result
	Raw       []byte
}

// FurtherResults returns the further results that this node keeps of a study, oldest first. Those
// that can no longer be read are left out, and damaged names them.
func FurtherResults(st node.State, s *study.Study) (out []Further, damaged []error, err error) {
	kept, damaged, err := Statements(st, s)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range kept {
		raw, err := ReadFurther(st, s, f)
		if errors.Is(err, ErrUnsigned) {
			damaged = append(damaged, err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		r, err := analysis.Decode(raw, s.ID)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("further result %s: %w", f.Document.Hash.String()[:8], err))
			continue
		}
		out = append(out, Further{f, r.With(Tables{st, s.ID}), raw})
	}
	return out, damaged, nil
}
