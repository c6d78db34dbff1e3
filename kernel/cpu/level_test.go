package cpu

import (
	"slices"
	"testing"
)

func TestLevels(t *testing.T) {
	levels := Levels()
	if levels[0] != Go || levels[len(levels)-1] != Best() || !slices.IsSorted(levels) {
		t.Errorf("levels %v, the best is %v", levels, Best())
	}
	var names []string
	for _, l := range []Level{Go, AVX2, AVX512} {
		names = append(names, l.String())
	}
	if want := []string{"go", "avx2", "avx512"}; !slices.Equal(names, want) {
		t.Errorf("the levels are called %v, want %v", names, want)
	}
}
