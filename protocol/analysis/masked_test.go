package analysis_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
)

// Masked columns are added up as they are read, block by block. The answers are those of plain
// sums, and a sum whose masks do not cancel is refused.
func TestMaskedColumnsAreAddedAsTheyAreRead(t *testing.T) {
	terms := fmt.Sprintf(horizontal, "  - {side: columns, family: sparse, k: 60}", "{mechanism: none}", "{kind: inner-product}, {kind: distance}")
	plain := ship(t, parse(t, terms), 7, wards(rand.New(rand.NewPCG(7, 1)), 40, 60, 20))
	want, _ := plain.run(t)

	rng := rand.New(rand.NewPCG(7, 2))
	masked := plain.options
	masked.Study = parse(t, "sum: masked\ncolluding: 1\n"+terms)
	masked.Contributions = nil
	var words [][]int64 // by contribution; they add up to zero modulo 2^64
	for i, c := range plain.options.Contributions {
		data := make([]int64, len(c.Sketches[0].Data))
		for j, v := range c.Sketches[0].Data {
			mask := int64(rng.Uint64())
			if i == 2 {
				mask = plain.options.Contributions[0].Sketches[0].Data[j] - words[0][j] + plain.options.Contributions[1].Sketches[0].Data[j] - words[1][j]
			}
			data[j] = v + mask
		}
		words = append(words, data)
		c.Masked = 3
		c.Sketches = []sketch.Sketch{{Side: c.Sketches[0].Side, Rows: c.Sketches[0].Rows, Cols: c.Sketches[0].Cols}}
		c.Scan = func(_ int, take func([]int64)) error {
			for from := 0; from < len(words[i]); from += 7 { // blocks that are not rows
				take(words[i][from:min(from+7, len(words[i]))])
			}
			return nil
		}
		masked.Contributions = append(masked.Contributions, c)
	}
	got, _, err := analysis.Run(t.Context(), masked)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Analyses {
		if !reflect.DeepEqual(got.Analyses[i].Pairs, want.Analyses[i].Pairs) {
			t.Errorf("analysis %d: %+v, want %+v", i, got.Analyses[i].Pairs, want.Analyses[i].Pairs)
		}
	}
	words[1][17] += 1 << 61
	if _, _, err := analysis.Run(t.Context(), masked); !errors.Is(err, release.ErrSpoilt) {
		t.Errorf("a word that another mask is in: %v", err)
	}
	masked.Contributions = masked.Contributions[:2]
	if _, _, err := analysis.Run(t.Context(), masked); err == nil {
		t.Error("a sum over two of three was taken")
	}
}
