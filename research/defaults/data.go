package defaults

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cosketch/cosketch/protocol/study"
)

// data holds the records of all parties, and the code book of their columns.
type data struct {
	name    string
	real    bool
	columns []column
	rows    [][]float64 // NaN is missing; a categorical value is its index in the list
	parties [][]int     // horizontal: the rows of each party; nil: dealt out to three
	known   summary     // of all rows, computed by truth
}

// column describes a column.
type column struct {
	name   string
	kind   study.ColumnKind
	lo, hi float64  // numeric: bounds in the code book
	values []string // categorical
	label  bool     // role: label
	owner  int      // vertical: index of its party
	below  bool     // the declared centre always errs low
}

func numeric(name string, lo, hi float64) column {
	return column{name: name, kind: study.Numeric, lo: lo, hi: hi}
}

func binary(name string) column { return column{name: name, kind: study.Binary, hi: 1} }

func categorical(name string, values ...string) column {
	return column{name: name, kind: study.Categorical, values: values}
}

// numerics returns columns x0, x1, … with equal bounds.
func numerics(d int, lo, hi float64) (out []column) {
	for j := range d {
		out = append(out, numeric(fmt.Sprintf("x%d", j), lo, hi))
	}
	return out
}

// feature is a column or one value of a categorical column.
type feature struct {
	column int
	value  string
}

// summary holds moments of the raw data, the truth for answers. Missing values are left out; a pair
// uses the rows that have both.
type summary struct {
	features    []feature
	at          map[[2]string]int // index by names of column and value
	means, sds  []float64
	covariances [][]float64 // divided by the number of rows n, not n-1
	sds2        [][]float64 // standard deviation of feature i over the rows that also have j
}

// entry returns the value of a feature in a row.
func (d *data) entry(row []float64, f feature) float64 {
	x := row[f.column]
	if d.columns[f.column].kind != study.Categorical || math.IsNaN(x) {
		return x
	}
	if d.columns[f.column].values[int(x)] == f.value {
		return 1
	}
	return 0
}

// truth summarises the rows. Sums are centred on the first value of a column, to avoid
// cancellation.
func (d *data) truth() *summary {
	if d.known.features != nil {
		return &d.known
	}
	s := summary{at: map[[2]string]int{}}
	for c, column := range d.columns {
		values := column.values
		if column.kind != study.Categorical {
			values = []string{""}
		}
		for _, v := range values {
			s.at[[2]string{column.name, v}] = len(s.features)
			s.features = append(s.features, feature{c, v})
		}
	}
	m := len(s.features)
	full := true
	values, origins := make([][]float64, m), make([]float64, m)
	for i, f := range s.features {
		origins[i] = math.NaN()
		for _, row := range d.rows {
			x := d.entry(row, f)
			full = full && !math.IsNaN(x)
			if math.IsNaN(origins[i]) {
				origins[i] = x
			}
			values[i] = append(values[i], x-origins[i])
		}
	}
	s.means, s.sds = make([]float64, m), make([]float64, m)
	s.covariances, s.sds2 = make([][]float64, m), make([][]float64, m)
	for i := range m {
		s.covariances[i], s.sds2[i] = make([]float64, m), make([]float64, m)
	}
	for i := range m {
		for j := range i + 1 {
			n, a, b, aa, bb, ab := 0., 0., 0., 0., 0., 0.
			y := values[j]
			for r, x := range values[i] {
				z := y[r]
				if !full && (math.IsNaN(x) || math.IsNaN(z)) {
					continue
				}
				n++
				a, b = a+x, b+z
				aa, bb, ab = aa+x*x, bb+z*z, ab+x*z
			}
			a, b = a/n, b/n
			s.covariances[i][j] = ab/n - a*b
			s.covariances[j][i] = s.covariances[i][j]
			s.sds2[i][j], s.sds2[j][i] = math.Sqrt(aa/n-a*a), math.Sqrt(bb/n-b*b)
			if i == j {
				s.means[i], s.sds[i] = a+origins[i], s.sds2[i][i]
			}
		}
	}
	d.known = s
	return &d.known
}

// correlation returns that of the rows that have both features.
func (s *summary) correlation(i, j int) float64 {
	return s.covariances[i][j] / (s.sds2[i][j] * s.sds2[j][i])
}

// deal deals the rows out to three parties evenly, or as parties says.
func (d *data) deal(rng *rand.Rand) [][]int {
	if d.parties != nil {
		return d.parties
	}
	const parties = 3
	out := make([][]int, parties)
	for at, i := range rng.Perm(len(d.rows)) {
		out[at%parties] = append(out[at%parties], i)
	}
	return out
}
