package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestClipThatCutsIsRecommended: if a clip cuts many records of bits or of numbers, the plan names
// a sketch of columns that cuts few. With that sketch there is no such warning.
func TestClipThatCutsIsRecommended(t *testing.T) {
	for _, kind := range []string{"binary", "numeric, centre: 3, spread: 2", "numeric, bounds: [0, 9], kurtosis: 1.8", "binary, centre: 0.1"} {
		var columns []string
		for i := range 16 {
			columns = append(columns, fmt.Sprintf("{name: c%d, kind: %s, owner: %s}", i, kind, []string{"north", "south"}[i%2]))
		}
		const cut = "{side: columns, family: sparse, k: 1000, helpers: {ones: 0.3}, clip: 0.5}"
		perRecord := "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}"
		terms := vertical(strings.Join(columns, ", "), cut, perRecord, correlation)
		longer := func(w Warning) bool {
			return strings.Contains(w.Text, "are longer than the clip, 0.5") && len(w.Change) > 0
		}
		before := planOf(t, terms)
		at := slices.IndexFunc(before.Warnings, longer)
		if at < 0 {
			t.Errorf("%s: nothing is recommended: %v", kind, before.Warnings)
			continue
		}
		lines := strings.Join(before.Warnings[at].Change, "\n")
		after := planOf(t, strings.Replace(terms, "sketches: ["+cut+"]", lines, 1))
		if slices.ContainsFunc(after.Warnings, func(w Warning) bool { return strings.Contains(w.Text, "longer than clip") }) && kind != "binary, centre: 0.1" {
			t.Errorf("%s: %s is warned of: %v", kind, lines, after.Warnings)
		}
		if after.Sketches[0].Clipped > 0.35 || after.Sketches[0].Clipped >= before.Sketches[0].Clipped {
			t.Errorf("%s: %.2f of the records are cut, %.2f before", kind, after.Sketches[0].Clipped, before.Sketches[0].Clipped)
		}
	}
}
