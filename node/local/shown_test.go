package local

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol/block"
)

func text(blocks []block.Block) string {
	var out strings.Builder
	present.Text(&out, blocks)
	return out.String()
}

// A spent ε is rounded up, and one above its cap is shown as refused.
func TestRehearsalAsText(t *testing.T) {
	before, after, limit := 0.0, 1.00001, 1.0
	got := text(Rehearsal{
		Study: strings.Repeat("a", 64), Name: "trial", Dataset: "data", Records: 1, Bytes: 1024,
		Effect:   source.Effect{Warnings: []string{"all is missing"}, Columns: []source.ColumnEffect{{Name: "x", Clipped: 3}}},
		Sketches: []RehearsedSketch{{Side: "columns", Projection: "sparse k=4 s=1", Rows: 4, Cols: 2, Width: 2, Bytes: 16, Clipped: 1, Noise: "discrete noise", Deviation: 2.5, Statement: "It hides one value."}},
		Budget:   []Spending{{Dataset: "data", Unit: "record", Before: &before}, {Dataset: "data", Unit: "attribute", Before: &before, After: &after, Cap: &limit, Delta: 1e-6}},
	}.Blocks())
	const want = `trial (study aaaaaaaa): 1.02 kB would leave, made of 1 record of dataset "data"; 0 records left out
for a missing value.

SKETCH 1: columns side, sparse k=4 s=1
  4 × 2 entries of 2 bytes, 16 bytes; 1 record clipped.
  Discrete noise: a standard deviation of 2.5 units in each entry.
  It hides one value.

WHAT THE STUDY DOES TO THE DATA
  WARNING: all is missing

  column  clipped  missing
  x             3        0

BUDGET
  dataset  unit       ε before    ε after  of cap   at δ
  data     record            0  unbounded  no cap      0
  data     attribute         0      1.001       1  1e-06  REFUSED: above the cap
  Reading and projecting took 0.00 s (0.00 s of it projecting), noise 0.00 s, encoding 0.00 s.
  Policy or budget would refuse the release. Nothing was spent, nothing is kept, nothing has left.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInspectionAsText(t *testing.T) {
	person, clipped := 24.0, int64(2)
	got := text(Inspection{
		Study: strings.Repeat("a", 64), Name: "trial", Party: "north", Envelope: "e1", T2: "t2", Records: 10, Person: &person,
		Sketches: []InspectedSketch{
			{Side: "records", Projection: "hadamard k=2", Rows: 10, Cols: 2, Width: 1, Bytes: 20, Bits: 12, Scale: 1, Mechanism: "laplace", Noise: "noise", Variance: 4, Statement: "It hides one value.",
				Clipped: &clipped, Chunks: []InspectedChunk{{"c1", true}}, Intact: true, Histogram: []Bin{{-1, 0, 1}, {1, 2, 8}}},
			{Side: "moments", Projection: "sums", Rows: 1, Cols: 1, Width: 1, Bytes: 1, Mechanism: "laplace", Chunks: []InspectedChunk{{"c2", false}}},
		},
	}.Blocks())
	const want = `trial (study aaaaaaaa): the release of 10 records by north.
signed header: e1
transcript T2: t2
per person: ε = 24, over all of the study's releases about one
Not in it: record ids and the seed. Which row is which record is in a file that stays here. No raw
value is in it: noise was added to every entry.

SKETCH 1: records side, hadamard k=2
  10 × 2 entries of 1 byte, 20 bytes; values of 12 bits, scale 1.
  Mechanism laplace: noise (variance 4).
  It hides one value.
  2 of 10 records were longer than the clip and cut to it; this number stays here.

  chunk  SHA-256  stored file
      1  c1       OK

  from  to  entries
    -1   0        1  █████
     1   2        8  ████████████████████████████████████████

SKETCH 2: moments side, sums
  1 × 1 entries of 1 byte, 1 byte; values of 0 bits, scale 0.
  Mechanism laplace:  (variance 0).

  chunk  SHA-256  stored file
      1  c2       DAMAGED
  The stored file is DAMAGED: its entries are not shown.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
