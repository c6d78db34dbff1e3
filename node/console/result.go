package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Result prints a stored result, or writes it to files.
type Result struct {
	Study  *study.Study
	Store  *store.Store
	Output string // directory; empty: print
	Labels []byte // labels.csv beside the result; nil: none
	Hint   string // what to do where there is no result yet
}

// Print does it.
func (r Result) Print(c *Console) error {
	result, raw, err := node.StoredResult(r.Store, r.Study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return WithCode(Absent, fmt.Errorf("study %s (%s) has no result here yet: %s", r.Study.Name, r.Study.ID.Short(), r.Hint))
	}
	if err != nil {
		return err
	}
	if r.Output != "" {
		return r.write(c, raw)
	}
	return c.Print(json.RawMessage(raw), func(w io.Writer) {
		writeResult(w, result)
		next := "--format json prints every number"
		if r.Labels != nil {
			next += "; --output DIR writes the cluster of each of your records"
		}
		if slices.ContainsFunc(result.Analyses, func(a analysis.Analysis) bool { return a.CellMeans != nil }) {
			next += "; --label FILE writes the cluster of each of your records"
		}
		c.Say("\nNext: %s.", next)
	})
}

// write puts result.json, and labels.csv where records were labelled, into a
// directory that only its owner can read.
func (r Result) write(c *Console, raw []byte) error {
	if err := os.MkdirAll(r.Output, 0o700); err != nil {
		return WithCode(Usage, fmt.Errorf("writing result: %w", err))
	}
	written := []string{}
	for _, file := range []struct {
		name string
		data []byte
	}{{"labels.csv", r.Labels}, {"result.json", raw}} {
		if file.data == nil {
			continue
		}
		path := filepath.Join(r.Output, file.name)
		if err := os.WriteFile(path, file.data, 0o600); err != nil {
			return WithCode(Usage, fmt.Errorf("writing result: %w", err))
		}
		written = append(written, path)
	}
	return c.Print(map[string]any{"study": r.Study.ID.String(), "files": written}, func(w io.Writer) {
		fmt.Fprintln(w, strings.Join(written, "\n"))
	})
}
