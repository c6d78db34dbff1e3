package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
)

// A line about data names a few columns and counts the others.
func TestSummaryOfManyColumns(t *testing.T) {
	s := dataset.Summary{Records: 7}
	for i := range 5000 {
		s.Fields = append(s.Fields, dataset.FieldSummary{Name: fmt.Sprint("c", i), Clamped: int64(i % 2), Missing: int64(i % 3)})
	}
	text := SummaryText(s)
	if len(text) > 600 || !strings.Contains(text, `"c1": 1 values outside`) || !strings.HasSuffix(text, "; and 4161 more columns with such values, which party data check lists") {
		t.Errorf("%d bytes: %s", len(text), text[:min(len(text), 800)])
	}
}
