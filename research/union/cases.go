package union

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/testnet/cancer"
)

// parties are how many hold the data of a case that does not say.
const parties = 3

// Typical gives each column the centre and spread that its values have, to two digits:
// what earlier publications about such data would say.
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

// digits keeps two significant digits.
func digits(x float64) float64 {
	var out float64
	fmt.Sscan(fmt.Sprintf("%.1e", x), &out)
	return out
}

// Bounded gives each column the least and greatest of its values, whose middle is not
// typical of skewed ones.
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

// Pooled is a case before it is dealt out: what nobody holds.
type Pooled struct {
	Name    string
	Columns []Column
	Records [][]float64
	Known   []int   // a grouping of the records that no party puts into a study; nil without one
	Parties [][]int // which records each party holds; nil: a third each, dealt out anew in every trial
}

// deal gives each party its records, and says which.
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

// scaled is the records in encoded units, as k-means on the pooled data takes them.
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

// Hospitals are the 569 patients of the breast cancer data; the known grouping is the
// diagnosis. Their pooled clusters are those of columns scaled to [0, 1], whatever scales
// a study takes.
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

// Mixture draws n records of d columns about k centres, the distance between which is
// large beside the spread of each.
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

// Correlated draws n records of d normal columns that share two hidden factors, so that
// their correlations are of every size.
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
