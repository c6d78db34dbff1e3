package cluster

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// directionsOf returns l columns of a Hadamard matrix, whose rows have random signs.
func directionsOf(d, l int, rng *rand.Rand) *mat.Dense {
	out, columns := mat.NewDense(d, l, nil), rng.Perm(1<<bits.Len(uint(d-1)))
	for j := range d {
		sign := float64(1 - 2*rng.IntN(2))
		for i := range l {
			out.Set(j, i, sign*float64(1-2*(bits.OnesCount(uint(j&columns[i]))&1)))
		}
	}
	return out
}

// signCell returns the number of a record's cell.
func signCell(record []float64, directions *mat.Dense) (cell int) {
	_, l := directions.Dims()
	for i := range l {
		var product float64
		for j, v := range record {
			product += v * directions.At(j, i)
		}
		if product < 0 {
			cell |= 1 << i
		}
	}
	return cell
}

// correlated returns normal records of equal correlations, whose columns have different spreads.
func correlated(d int, rho float64, rng *rand.Rand) (of Gaussian, draw func(into []float64)) {
	of = Gaussian{Mean: make([]float64, d)}
	v, spreads := mat.NewSymDense(d, nil), make([]float64, d)
	for i := range d {
		of.Mean[i], spreads[i] = 0.1*rng.NormFloat64(), 0.2+0.2*rng.Float64()
		for j := range i {
			v.SetSym(i, j, rho*spreads[i]*spreads[j])
		}
		v.SetSym(i, i, spreads[i]*spreads[i])
	}
	of.Covariance = v
	return of, func(into []float64) {
		shared := rng.NormFloat64()
		for i := range into {
			into[i] = of.Mean[i] + spreads[i]*(math.Sqrt(rho)*shared+math.Sqrt(1-rho)*rng.NormFloat64())
		}
	}
}

// For normal records, the errors of the best linear prediction are uncorrelated with the signs, for
// any number of directions: more than columns, and correlated ones. So the mean over cells of the
// record minus its place, times each sign, differs from zero only by chance.
func TestPlacesPredictRecords(t *testing.T) {
	const n = 30_000
	rng := rand.New(rand.NewPCG(11, 4))
	for _, test := range []struct {
		d, l int
		rho  float64
	}{{8, 5, 0}, {8, 8, 0.5}, {6, 7, 0.3}, {3, 2, 0.8}, {1, 1, 0}} {
		of, draw := correlated(test.d, test.rho, rng)
		h := directionsOf(test.d, test.l, rng)
		places, err := Places(of, h)
		if err != nil {
			t.Fatal(err)
		}
		record := make([]float64, test.d)
		moments, off := mat.NewDense(test.l+1, test.d, nil), 0.
		var centred float64 // what remains if every place is the mean
		for range n {
			draw(record)
			cell := signCell(record, h)
			for j, v := range record {
				e := v - places.At(cell, j)
				off += e * e / n
				centred += (v - of.Mean[j]) * (v - of.Mean[j]) / n
				for i := range test.l {
					moments.Set(i, j, moments.At(i, j)+e*float64(1-2*(cell>>i&1))/n)
				}
				moments.Set(test.l, j, moments.At(test.l, j)+e/n)
			}
		}
		// The standard deviation of an entry is at most that of a column, 0.4, over the root of n.
		// The bound is five of these, plus what the ridge on the signs' covariance leaves.
		for i := range test.l + 1 {
			for j := range test.d {
				if got := math.Abs(moments.At(i, j)); got > 5*0.4/math.Sqrt(n)+2*signRidge {
					t.Errorf("%+v: errors of column %d go with sign %d by %.4f", test, j, i, got)
				}
			}
		}
		if off > 0.9*centred {
			t.Errorf("%+v: places leave %.3f of %.3f", test, off, centred)
		}
	}
}

// A constant column, and directions along which no record varies, do no harm.
func TestPlacesOfDegenerateRecords(t *testing.T) {
	h := directionsOf(4, 4, rand.New(rand.NewPCG(1, 1)))
	for name, v := range map[string]*mat.SymDense{
		"constant":       mat.NewSymDense(4, nil),
		"one direction":  mat.NewSymDense(4, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
		"far from the 0": mat.NewSymDense(4, []float64{1e-12, 0, 0, 0, 0, 1e-12, 0, 0, 0, 0, 1e-12, 0, 0, 0, 0, 1e-12}),
	} {
		mean := []float64{0.5, -0.2, 0.1, 0}
		places, err := Places(Gaussian{Mean: mean, Covariance: v}, h)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range 16 {
			for _, p := range places.RawRowView(i) {
				if math.IsNaN(p) || math.Abs(p) > 10 {
					t.Fatalf("%s: cell %d lies at %v", name, i, places.RawRowView(i))
				}
			}
		}
	}
	if _, err := Places(Gaussian{Mean: make([]float64, 3), Covariance: mat.NewSymDense(3, nil)}, h); err == nil {
		t.Error("a mean of other columns is taken")
	}
}
