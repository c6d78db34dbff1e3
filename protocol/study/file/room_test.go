package file

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A length that has no room for absent values is refused when the study is read: a party could not
// plan its release. Of own lengths, the smallest is checked.
func TestNoRoomForAbsentValues(t *testing.T) {
	const terms = `partition: horizontal
expires: 2026-12-01T17:00:00Z
deadline: 2026-12-15T17:00:00Z
bits: %d
records: {id: [patient], missing: %s}
columns: [%s]
sketches: [{side: moments, sums: 2, clip: %s}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}, {kind: correlation}]
`
	example, err := os.ReadFile("../testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	var columns []string
	for i := range 600 {
		columns = append(columns, fmt.Sprintf("{name: c%d, kind: numeric, centre: 0, spread: 1}", i))
	}
	for _, c := range []struct {
		bits          int
		missing, clip string
		fits          bool
	}{
		{8, "count", "0.25", false}, {8, "centre", "0.25", true}, {8, "count", "6", true}, {3, "count", "own", false}, {5, "count", "own", true}, {3, "centre", "own", true},
	} {
		_, err := Parse(fmt.Appendf([]byte(head), terms, c.bits, c.missing, strings.Join(columns, ", "), c.clip))
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "no room for absent values") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
