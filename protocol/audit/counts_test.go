package audit_test

import (
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/audit"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
)

// Counts of a study pass an audit as shipped, and the records tried move them by the full
// sensitivity, under both noises and both kinds of neighbours. Keys are fixed.
func TestAuditOfCounts(t *testing.T) {
	for _, c := range []struct {
		beside, privacy string
		floor           float64
	}{
		{"{side: moments, clip: 0.8}", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", 0.7},
		{"{side: moments, clip: 0.8}", "{unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 4, delta: 1e-6}", 0.7},
		{"{side: columns, family: sparse, k: 64, helpers: {ones: 0}, clip: 0.8}", "{unit: record, mechanism: laplace, epsilon: 2}", 0.4},
	} {
		s := releasetest.Study(t, releasetest.Terms{
			Partition: study.Horizontal, Columns: []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary, releasetest.Categorical}, Missing: "refuse", Privacy: c.privacy,
			Sketches: []string{c.beside, "{side: counts, tables: [{of: [{column: categorical}]}, {of: [{column: centred, bins: 8}, {column: binary}]}, {of: [{column: bounded}], depth: 2}]}"},
		})
		p := releasetest.Plan(t, s, 1)
		g, err := dp.NewGenerator(releasetest.Entropy(5))
		if err != nil {
			t.Fatal(err)
		}
		realised, err := audit.Realise(p, releasetest.Seed(3), g)
		if err != nil || realised != p.Sensitivity {
			t.Errorf("%s: moved by %v, planned %v: %v", c.privacy, realised, p.Sensitivity, err)
		}
		a := runAudit(t, p, 20_000)
		if f := a.Finding; !a.Passed() || !a.Conclusive || float64(f.Found) < c.floor*float64(f.Claimed) || a.OneRun.Canaries < 1 {
			t.Errorf("%s: found %.3g of %.3g, %d canaries: %+v", c.privacy, float64(f.Found), float64(f.Claimed), a.OneRun.Canaries, a)
		}
	}
}
