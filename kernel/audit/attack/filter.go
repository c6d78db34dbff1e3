package attack

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Filter returns, m × n, what a columns-side sketch reveals of single records to an attacker who
// knows their rows of R: ⟨r(id), u⟩ for each row r of rows (m × k, with R's scale applied) and each
// column u of the sketch (k × n). Its error has the standard deviation that Spread returns. Values
// far beyond it are recognisable.
func Filter(rows, sketch *mat.Dense) (*mat.Dense, error) {
	_, k := rows.Dims()
	if own, _ := sketch.Dims(); own != k {
		return nil, fmt.Errorf("matching a sketch: rows of R have %d entries, the sketch %d rows", k, own)
	}
	var out mat.Dense
	out.Mul(rows, sketch)
	return &out, nil
}

// FilterError returns the standard deviation of Filter's error for a column u of a sketch of k rows:
// √(|u|²/k), including the noise in u, for a row of R of norm 1.
func FilterError(u []float64) float64 { return math.Sqrt(dot(u, u) / float64(len(u))) }
