package plan

import (
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
)

// A study with counts has a plan: of a sketch that nothing reads yet, its size is said.
func TestCountsHaveAPlan(t *testing.T) {
	s := parse(t, `partition: horizontal
records: {id: [patient], missing: count}
columns:
  - {name: age, kind: numeric, bounds: [0, 100]}
  - {name: ward, kind: categorical, values: [a, b, c]}
sketches:
  - {side: moments, clip: whole}
  - {side: counts, tables: [{of: [{column: age}], depth: 6}, {of: [{column: ward}]}]}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}]
`)
	p, err := Make(Options{Study: s, Party: 0, Records: map[string]int64{"": 5000}})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Sketches[1]
	cells := int64(2 + 4 + 8 + 16 + 32 + 64 + 6 + 4)
	if got.Side != sketch.Counts || got.Bytes < 2*cells || got.Bytes > 4*cells || got.Clipped != 0 || len(got.Analyses) != 0 {
		t.Errorf("%+v of %d cells", got, cells)
	}
}
