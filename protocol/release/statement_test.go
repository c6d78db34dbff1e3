package release_test

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// A party that first looks at its own records spends a part of the sketch's guarantee on that. The
// statement covers everything released, not only the sums.
func TestStatementCountsLooks(t *testing.T) {
	for _, keys := range []string{"clip: 1", "clip: own", "clip: own, standardise: own", "clip: 1, standardise: own"} {
		p := releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Centred, releasetest.Bounded}, Sketches: []string{"{side: moments, " + keys + "}"},
			Privacy: "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}"}), 0)
		if text := p.Statement(); !strings.Contains(text, "(ε = 4, δ = 1e-06)") {
			t.Errorf("%s: %s", keys, text)
		}
	}
}
