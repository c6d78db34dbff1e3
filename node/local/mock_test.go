package local_test

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// For every example study, each party's synthetic rows have its columns, with values that the study
// accepts without moving them. The same generator gives the same rows.
func TestMockRowsAreAdmitted(t *testing.T) {
	files, err := filepath.Glob("../../protocol/study/testdata/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := file.Parse(source)
		if err != nil {
			continue // an example with gaps to fill in
		}
		for party := range s.Parties {
			draw := func() []byte {
				var out bytes.Buffer
				if err := local.Mock(&out, local.MockOptions{Study: s, Party: party, Records: 400, Rand: rand.New(rand.NewPCG(1, 2))}); err != nil {
					t.Fatal(err)
				}
				return out.Bytes()
			}
			raw := draw()
			if !bytes.Equal(raw, draw()) {
				t.Errorf("%s: the same generator gives other rows", path)
			}
			rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
			if err != nil || len(rows) != 401 {
				t.Fatalf("%s: %d rows, %v", path, len(rows), err)
			}
			checkMock(t, path, s, rows)
		}
	}
}

func checkMock(t *testing.T, path string, s *study.Study, rows [][]string) {
	t.Helper()
	ids, absent := map[string]bool{}, 0
	for _, row := range rows[1:] {
		ids[row[0]] = true
		for at, text := range row[len(s.Records.ID):] {
			name := rows[0][len(s.Records.ID)+at]
			c := s.Columns[slices.IndexFunc(s.Columns, func(c study.Column) bool { return c.Name == name })]
			switch x, err := strconv.ParseFloat(text, 64); {
			case text == "":
				absent++
			case c.Kind == study.Categorical:
				if !slices.Contains(c.Values, text) {
					t.Fatalf("%s, %s: %q is no value of it", path, name, text)
				}
			case err != nil:
				t.Fatalf("%s, %s: %v", path, name, err)
			default:
				least, greatest := c.Scale.Ends()
				if y := c.Scale.Transform().Apply(x); c.Kind == study.Numeric && (y < least-1e-4*(greatest-least) || y > greatest+1e-4*(greatest-least)) {
					t.Fatalf("%s, %s: %v is not within %v and %v", path, name, y, least, greatest)
				}
			}
		}
	}
	if len(ids) != len(rows)-1 {
		t.Errorf("%s: %d ids of %d rows", path, len(ids), len(rows)-1)
	}
	if (absent > 0) != (s.Records.Missing != study.MissingRefuse) {
		t.Errorf("%s, missing: %s: %d values are absent", path, s.Records.Missing, absent)
	}
}
