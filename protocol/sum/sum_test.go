package sum_test

import (
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/sum"
)

// Every side that sums over records has a row with all that plans, builders and audits need; no
// other side has a row.
func TestEverySideThatSumsHasARow(t *testing.T) {
	met := map[sketch.Side]bool{}
	for _, row := range sum.Rows() {
		if met[row.Side] || !row.Side.Sums() {
			t.Errorf("side %s has a row: twice, or it does not sum", row.Side)
		}
		met[row.Side] = true
		if row.Shape == nil || row.Sensitivity == nil || row.Open == nil || row.Largest == nil || row.Extremes == nil || row.DisjointEntries == nil {
			t.Errorf("the row of side %s lacks something", row.Side)
		}
	}
	for _, side := range sketch.Sides() {
		if side.Sums() != met[side] {
			t.Errorf("side %s sums: %t, has a row: %t", side, side.Sums(), met[side])
		}
	}
}
