package attack

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// LinkageRate is how often records from elsewhere were matched with their sketches.
type LinkageRate struct {
	First  float64 // share of copies whose own sketch was the nearest
	Ten    float64 // share of copies whose own sketch was among the ten nearest
	Chance float64 // First if guessed at random
}

// Link projects copies of records from elsewhere, m × d, by R and finds the nearest sketches. Copy
// i must be of the record of sketch i.
func (s View) Link(ctx context.Context, copies *mat.Dense) (LinkageRate, error) {
	if err := s.check(); err != nil {
		return LinkageRate{}, err
	}
	m, _ := s.Y.Dims()
	if rows, cols := copies.Dims(); rows != m || cols != s.R.RawMatrix().Rows {
		return LinkageRate{}, fmt.Errorf("linking records: copies are %d × %d, want %d × %d", rows, cols, m, s.R.RawMatrix().Rows)
	}
	var projected mat.Dense
	projected.Mul(copies, s.R)
	var first, ten int
	for i := range m {
		if err := ctx.Err(); err != nil {
			return LinkageRate{}, err
		}
		probe := projected.RawRowView(i)
		own, nearer := apart(probe, s.Y.RawRowView(i)), 0
		for j := range m {
			if j != i && apart(probe, s.Y.RawRowView(j)) <= own {
				nearer++
			}
		}
		if nearer == 0 {
			first++
		}
		if nearer < 10 {
			ten++
		}
	}
	n := float64(m)
	return LinkageRate{First: float64(first) / n, Ten: float64(ten) / n, Chance: 1 / n}, nil
}

func apart(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return sum
}
