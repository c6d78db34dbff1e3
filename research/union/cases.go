package union

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/testnet/cancer"
)

// parties is the default number of parties of a case.
const parties = 3

// Typical gives each column the mean and standard deviation of its values as centre and spread, to
// two digits, like earlier publications about such data would.
func Typical(names []string, records [][]float64) (out []Column) {
	column := make([]float64, len(records))
	for j, name := range names {
		for i, r := range records {
			column[i] = r[j]
		}
		mean, sd := stat.MeanStdDev(column, nil)
		out = append(out, Column{Name: name, Range: Range{Centre: digits(mean), Spread: digits(sd)}})
	}
	return out
}

// digits rounds to two significant digits.
func digits(x float64) float64 {
	var out float64
	fmt.Sscan(fmt.Sprintf("%.1e", x), &out)
	return out
}

// Bounded gives each column the smallest and largest of its values as bounds. If a column is
// skewed, their middle is not typical.
func Bounded(names []string, records [][]float64) (out []Column) {
	for j, name := range names {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, r := range records {
			lo, hi = min(lo, r[j]), max(hi, r[j])
		}
		out = append(out, Column{Name: name, Range: Range{Lo: lo, Hi: hi}})
	}
	return out
}

// Pooled is the pooled data of a case, which no party holds.
type Pooled struct {
	Name    string
	Columns []Column
	Records [][]float64
	Known   []int   // a grouping of the records that is not in the study; may be nil
	Parties [][]int // the records of each party; nil: a random third each, dealt anew in every trial
}

// deal deals the records out to the parties; order holds their indices.
func (p Pooled) deal(rng *rand.Rand) (out [][][]float64, order [][]int) {
	order = p.Parties
	if order == nil {
		order = make([][]int, parties)
		for at, i := range rng.Perm(len(p.Records)) {
			order[at%parties] = append(order[at%parties], i)
		}
	}
	for _, own := range order {
		var records [][]float64
		for _, i := range own {
			records = append(records, p.Records[i])
		}
		out = append(out, records)
	}
	return out, order
}

// scaled returns the records in encoded units, for k-means on the pooled data.
func (p Pooled) scaled() *mat.Dense {
	out := mat.NewDense(len(p.Records), len(p.Columns), nil)
	for i, r := range p.Records {
		for j, x := range r {
			at := p.Columns[j].Range
			if at.Spread > 0 {
				out.Set(i, j, max(-1, min((x-at.Centre)/(3*at.Spread), 1)))
			} else {
				out.Set(i, j, (x-at.Lo)/(at.Hi-at.Lo))
			}
		}
	}
	return out
}

// Hospitals returns the 569 patients of the breast cancer data; the known grouping is the
// diagnosis. Pooled clusters are those of columns scaled to [0, 1], whatever scales a study uses.
func Hospitals(typical bool) (Pooled, error) {
	table, err := cancer.Load()
	if err != nil {
		return Pooled{}, err
	}
	p := Pooled{Name: "hospitals, mid-range centres", Columns: Bounded(table.Names, table.Values), Records: table.Values}
	if typical {
		p.Name, p.Columns = "hospitals, typical centres", Typical(table.Names, table.Values)
	}
	for _, malignant := range table.Malignant {
		label := 0
		if malignant {
			label = 1
		}
		p.Known = append(p.Known, label)
	}
	return p, nil
}

// Mixture draws n records of d columns around k centres, whose distances are large compared with
// the spread of each cluster.
func Mixture(n, d, k int, rng *rand.Rand) Pooled {
	p := Pooled{Name: fmt.Sprintf("mixture of %d clusters", k)}
	centres := make([][]float64, k)
	for c := range centres {
		for range d {
			centres[c] = append(centres[c], rng.NormFloat64())
		}
	}
	for i := range n {
		r := make([]float64, d)
		for j := range r {
			r[j] = centres[i%k][j] + 0.5*rng.NormFloat64()
		}
		p.Records, p.Known = append(p.Records, r), append(p.Known, i%k)
	}
	for j := range d {
		p.Columns = append(p.Columns, Column{Name: fmt.Sprintf("x%d", j), Range: Range{Centre: 0, Spread: 1.1}})
	}
	return p
}

// Correlated draws n records of d normal columns that depend on two hidden factors, so that
// correlations of all sizes occur.
func Correlated(n, d int, rng *rand.Rand) Pooled {
	p := Pooled{Name: fmt.Sprintf("%d correlated columns", d)}
	loads := make([][3]float64, d)
	for j := range loads {
		a, b := rng.Float64()*2*math.Pi, 0.1+0.6*rng.Float64()
		loads[j] = [3]float64{b * math.Cos(a), b * math.Sin(a), math.Sqrt(1 - b*b)}
		p.Columns = append(p.Columns, Column{Name: fmt.Sprintf("x%d", j), Range: Range{Centre: 0, Spread: 1}})
	}
	for range n {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		r := make([]float64, d)
		for j, l := range loads {
			r[j] = l[0]*u + l[1]*v + l[2]*rng.NormFloat64()
		}
		p.Records = append(p.Records, r)
	}
	return p
}
