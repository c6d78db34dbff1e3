package file

import (
	"slices"
	"strings"
	"testing"
)

// Headers as people write them, with umlauts, become distinct valid names; valid names stay.
func TestColumnNames(t *testing.T) {
	long := strings.Repeat("ü(", 70)
	headers := []string{"height", "Größe (cm)", "Größe [cm]", "Born on", "Costs [EUR]", "%", "", "Größe_cm_2", "a  b", "10^3/µl", long, long + "x", "e\u0301(t)"}
	want := []string{"height", "Größe_cm", "Größe_cm_3", "Born on", "Costs_EUR", "column", "column_2", "Größe_cm_2", "a_b", "10_3_µl"}
	got := ColumnNames(headers)
	if !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q, want %q", got[:len(want)], want)
	}
	seen := map[string]bool{}
	for i, name := range got {
		if wrong := checkName(name); wrong != "" || seen[name] {
			t.Errorf("%q is named %q: %s", headers[i], name, wrong)
		}
		seen[name] = true
	}
	if got := ColumnNames([]string{"x(", "x("}); got[0] != got[1] {
		t.Errorf("one header twice: %q", got)
	}
}
