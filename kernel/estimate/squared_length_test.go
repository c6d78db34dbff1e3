package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval of a squared length covers it with noise on each coordinate and noise along the
// vector, from length zero to one far above the noise.
func TestSquaredCovers(t *testing.T) {
	const d, each, along, draws = 8, 0.04, 0.1, 4000 // variance of each coordinate, and along the vector for length 1
	for _, length := range []float64{0, 0.3, 1, 4} {
		rng := rand.New(rand.NewPCG(6, uint64(10*length)))
		held, short := 0, 0
		for range draws {
			var square float64
			for i := range d {
				x := math.Sqrt(each) * rng.NormFloat64()
				if i == 0 {
					x += length + math.Sqrt(along)*length*rng.NormFloat64()
				}
				square += x * x
			}
			by := along * length * length // of the noise along the vector
			value := square - d*each - by
			e := Squared(value, each+by, 2*d*each*each, 0)
			if e.Low <= length*length && length*length <= e.High {
				held++
			}
			if e = Squared(value, 0, 2*d*each*each, 0); e.Low <= length*length && length*length <= e.High {
				short++
			}
		}
		if share := float64(held) / draws; share < 0.93 || share > 0.985 {
			t.Errorf("length %v: held in %.3f", length, share)
		}
		if share := float64(short) / draws; length > 0.5 && share > 0.6 {
			t.Errorf("length %v: without the noise along it held in %.3f: this tells nothing", length, share)
		}
	}
	if e := Squared(1, 0, 0, 2); e.Defined() {
		t.Error("a level of 2 is taken")
	}
}
