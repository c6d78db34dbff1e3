package stored

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// ReadAll reads a file of a stored release or query.
func ReadAll(dir store.ReleaseDir, name string) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("stored query: %w", err)
	}
	defer f.Close()
	return io.ReadAll(f)
}

// ModelColumns returns the column names of models, like OwnLabels.
func ModelColumns(s *study.Study, models []analysis.Model) []string {
	out := append([]string(nil), s.Records.ID...)
	count := map[string]int{}
	for _, m := range models {
		count[m.Name]++
	}
	for _, m := range models {
		name := m.Name
		if count[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, m.Analysis)
		}
		out = append(out, name)
	}
	return out
}
