package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// Plans of many columns: sums with a regression of one column on all others, and sketches with all
// correlations.
func BenchmarkColumns(b *testing.B) {
	for _, n := range []int{100, 400, 2000} {
		half := n / 2
		var owned []string
		for i := range n {
			owner := "north"
			if i >= half {
				owner = "south"
			}
			owned = append(owned, fmt.Sprintf("{name: c%d, kind: numeric, centre: 0, spread: 1, owner: %s}", i, owner))
		}
		for _, c := range []struct{ name, terms string }{
			{"sums", moments(repeated(n, "numeric, centre: 0, spread: 1"), "{side: moments, clip: own}", "{kind: regression, target: c0}")},
			{"sketches", vertical(strings.Join(owned, ", "), "{side: columns, family: sparse, k: 1000, helpers: {ones: 0.3}, clip: 0.8}", perRecord, "{kind: correlation}")},
		} {
			o := Options{Study: parse(b, c.terms), Party: study.Everyone, Records: map[string]int64{"": 100_000}}
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := Make(o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
