package projection

import (
	"math"
	"strings"
	"testing"
)

// The descriptions of families are complete and true.
func TestFamilies(t *testing.T) {
	seen := map[Family]bool{}
	for _, about := range Families() {
		spec := Spec{Family: about.Family, K: 8}
		if about.Family == Sparse {
			spec.S = 2
		}
		if err := spec.Validate(); err != nil || seen[about.Family] {
			t.Errorf("%s: %v, or named twice", about.Family, err)
		}
		seen[about.Family] = true
		f, _ := spec.family()
		if about.Entries == "" || about.Scale == "" || about.Source == "" {
			t.Errorf("%+v: says too little", about)
		}
		if about.Columns != (f.blank(spec) != nil) || about.Columns != spec.ServesColumns() {
			t.Errorf("%s: serves the columns side: %v", about.Family, about.Columns)
		}
		if c := spec.Cost(8); c.Additions < 1 || c.Bytes < 1 {
			t.Errorf("%s: costs %+v", about.Family, c)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d families", len(seen))
	}
	_, err := Spec{Family: "none"}.family()
	if err == nil || !strings.Contains(err.Error(), "want sparse, rademacher, achlioptas, gaussian, hadamard or identity") {
		t.Errorf("unknown family: %v", err)
	}
	if n := testing.AllocsPerRun(10, func() { Spec{Identity, 8, 0}.Scale() }); n > 0 {
		t.Errorf("%.0f allocations to find the last family", n)
	}
	if (Spec{Family: "none"}).ServesColumns() {
		t.Error("an unknown family serves the columns side")
	}
}

// MaxRowNormRatio covers rows that are possible but never occur in practice. It does not depend on K and
// S.
func TestLongestRow(t *testing.T) {
	for family, want := range map[Family]float64{
		Sparse: 1, Rademacher: 1, Hadamard: 1, Identity: 1, Achlioptas: math.Sqrt(3), Gaussian: 32767. / 4096,
	} {
		for _, spec := range []Spec{{family, 8, 0}, {family, -1, -1}, {family, math.MaxInt, math.MaxInt}} {
			if got := spec.MaxRowNormRatio(); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v: %v, want %v", spec, got, want)
			}
		}
	}
}

// The exact ranges that the families' comments state, with entries of 14 bits.
func TestStatedRanges(t *testing.T) {
	for _, about := range Families() {
		spec, want := Spec{Family: about.Family, K: 8, S: 0}, int64(1)<<48-1
		if about.Family == Gaussian {
			want = (1<<62 - 1) / (1 << 14 * 32767)
		}
		if got := spec.MaxTerms(1 << 14); got != want {
			t.Errorf("%s: %d records, want %d", about.Family, got, want)
		}
	}
}

// Costs grow as stated.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		d    int
		want int64
	}{
		{Spec{Sparse, 1024, 4}, 100, 400},
		{Spec{Rademacher, 256, 0}, 1024, 256 * 1024},
		{Spec{Achlioptas, 256, 0}, 300, 256 * 100},
		{Spec{Gaussian, 256, 0}, 1024, 256 * 1024},
		{Spec{Hadamard, 256, 0}, 1024, 1024 * 10},
		{Spec{Hadamard, 256, 0}, 1025, 2048 * 11},
		{Spec{Identity, 30, 0}, 30, 30},
	} {
		if got := c.spec.Cost(c.d).Additions; got != c.want {
			t.Errorf("%v of %d columns: %d additions, want %d", c.spec, c.d, got, c.want)
		}
	}
	if c := (Spec{Gaussian, MaxK, 0}).Cost(8); c.Bytes != 16*MaxK {
		t.Errorf("gaussian: %d bytes", c.Bytes)
	}
	if c := (Spec{"none", 1, 0}).Cost(1); c != (Cost{}) {
		t.Errorf("an unknown family costs %v", c)
	}
}
