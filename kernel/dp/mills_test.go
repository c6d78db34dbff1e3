package dp

import (
	"math"
	"testing"
)

func TestFewerLevelsHaveTheSameBits(t *testing.T) {
	x, inside := 4.0, 0
	for ; x < 1e9; x *= 1.0003 {
		if got, want := mills(x), laplace(x, 100); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("Mills' ratio of %v is %v, of a hundred levels %v", x, got, want)
		}
		inside++
	}
	if inside < 10_000 {
		t.Errorf("tried %d", inside)
	}
}
