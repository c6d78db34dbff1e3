package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/sketch"
)

// Tally is a moments sketch of some records, divided by its weights. It is of one party, or of
// several with the same centre and scale.
type Tally struct {
	Records   int64               // required: public
	Layout    sketch.MomentLayout // required
	Values    []float64           // required: by entry of the layout, without the weights
	Variances []float64           // required: of their noise
	// Unlabelled says that records of the last class have no label: they belong to no class.
	Unlabelled bool
	// Clips are the lengths to which each party's records were clipped, in the tally's units. They
	// are required if the layout counts clipped records.
	Clips  []float64
	Priors []Prior // by entry; required if records are clipped
	// Centres and Units give, by entry of a record, its zero and its scale in the units that all
	// tallies share; nil: 0 and 1.
	Centres, Units []float64
}

// TallyColumn is a column of Summed: an entry of the summed records, or a class of their label.
type TallyColumn struct {
	Entry     int // of a record; -1: a class
	Class     int
	Attribute int // of an entry: its index among those whose absence is counted
}

// number is a sum with the noise in it.
type number struct {
	value float64
	terms []term
}

// term is the weight of an entry's noise in a number.
type term struct {
	entry  int
	weight float64
}

func (t *Tally) at(entry int) number {
	return number{t.Values[entry], []term{{entry, 1}}}
}

// plus is n + weight·m.
func (n number) plus(weight float64, m number) number {
	out := number{n.value + float64(weight*m.value), append([]term(nil), n.terms...)}
	for _, x := range m.terms {
		out.terms = append(out.terms, term{x.entry, weight * x.weight})
	}
	return out
}

func (t *Tally) counted() bool { return t.Layout.Attributes > 0 }

// absent is how many records lack a column.
func (t *Tally) absent(attribute int) (n number) {
	for class := range max(t.Layout.Classes, 1) {
		n = n.plus(1, t.at(t.Layout.Absent(class, attribute)))
	}
	return n
}

// none is the class of the records without a label.
func (t *Tally) none() int { return t.Layout.Classes - 1 }

// count is how many records have both columns.
func (t *Tally) count(a, b TallyColumn) number {
	n := number{value: float64(t.Records)}
	labelled := t.Unlabelled && (a.Entry < 0 || b.Entry < 0)
	if labelled {
		n = n.plus(-1, t.at(t.Layout.ClassCount(t.none())))
	}
	if !t.counted() {
		return n
	}
	if labelled && max(a.Entry, b.Entry) >= 0 { // those that lack both were subtracted twice
		n = n.plus(1, t.at(t.Layout.Absent(t.none(), attributeOf(a, b))))
	}
	for i, c := range []TallyColumn{a, b} {
		if c.Entry >= 0 && (i == 0 || c.Attribute != a.Attribute || a.Entry < 0) {
			n = n.plus(-1, t.absent(c.Attribute))
		}
	}
	if a.Entry >= 0 && b.Entry >= 0 && a.Attribute != b.Attribute && t.Layout.Products {
		n = n.plus(1, t.at(t.Layout.BothAbsent(a.Attribute, b.Attribute)))
	}
	return n
}

// attributeOf is the attribute of the column that is an entry.
func attributeOf(a, b TallyColumn) int {
	if a.Entry < 0 {
		return b.Attribute
	}
	return a.Attribute
}

// sum is the sum of a over the records that have both columns.
func (t *Tally) sum(a, b TallyColumn) number {
	l := t.Layout
	switch {
	case a.Entry < 0 && b.Entry >= 0 && t.counted():
		return t.at(l.ClassCount(a.Class)).plus(-1, t.at(l.Absent(a.Class, b.Attribute)))
	case a.Entry < 0:
		return t.at(l.ClassCount(a.Class))
	case b.Entry < 0 && t.Unlabelled && l.Products:
		return t.at(l.Sum(a.Entry)).plus(-1, t.at(l.ClassSum(t.none(), a.Entry)))
	case b.Entry >= 0 && a.Attribute != b.Attribute && t.counted() && l.Products:
		return t.at(l.Sum(a.Entry)).plus(-1, t.at(l.SumAbsent(a.Entry, b.Attribute)))
	}
	return t.at(l.Sum(a.Entry))
}

// product is the sum of a times b over the records that have both columns.
func (t *Tally) product(a, b TallyColumn) number {
	l := t.Layout
	switch {
	case a.Entry >= 0 && b.Entry >= 0:
		return t.at(l.Product(a.Entry, b.Entry))
	case a.Entry < 0 && b.Entry < 0 && a.Class != b.Class:
		return number{} // no record is in two
	case a.Entry < 0 && b.Entry < 0:
		return t.at(l.ClassCount(a.Class))
	case a.Entry < 0:
		return t.at(l.ClassSum(a.Class, b.Entry))
	}
	return t.at(l.ClassSum(b.Class, a.Entry))
}

// place is the zero and the scale of a column of this tally in the common units.
func (t *Tally) place(c TallyColumn) (centre, unit float64) {
	centre, unit = 0, 1
	if c.Entry >= 0 && t.Centres != nil {
		centre = t.Centres[c.Entry]
	}
	if c.Entry >= 0 && t.Units != nil {
		unit = t.Units[c.Entry]
	}
	return centre, unit
}

// check returns an error if parts of the tally do not fit each other.
func (t *Tally) check() error {
	n := t.Layout.Entries()
	switch {
	case t.Unlabelled && t.Layout.Classes < 1:
		return errors.New("a tally has unlabelled records, but its layout has no class for them")
	case t.Records < 1:
		return fmt.Errorf("a tally of %d records: want at least one", t.Records)
	case len(t.Values) != n || len(t.Variances) != n:
		return fmt.Errorf("a tally of %d values and %d variances: its layout has %d entries", len(t.Values), len(t.Variances), n)
	case t.Centres != nil && len(t.Centres) != t.Layout.Columns || t.Units != nil && len(t.Units) != t.Layout.Columns:
		return fmt.Errorf("a tally of %d columns with %d centres and %d units", t.Layout.Columns, len(t.Centres), len(t.Units))
	}
	return nil
}

// NewTallied estimates from the tallies of disjoint records. Columns are those to estimate, in
// their order.
//
// The sums of all tallies are moved to one centre. Let n be the number of records that have both of
// two columns, a and b the columns' means over these, and c = Σxy/n − ab their covariance. Nothing
// is assumed about which values are absent. Let dS, dX, dY and dn be the noise on a tally's
// product, sums and count, with a and b measured from the tally's own centre. The error of c is
// then
//
//	Σ over tallies [dS − b·dX − a·dY + (ab − c)·dn]/n
//
// to first order.
func NewTallied(tallies []Tally, columns []TallyColumn) (*Summed, error) {
	if len(tallies) == 0 || len(columns) == 0 {
		return nil, fmt.Errorf("%d tallies of %d columns: want at least one of each", len(tallies), len(columns))
	}
	d := len(columns)
	m := &Summed{tallies: tallies, columns: columns, mean: make([]float64, d), counts: make([]float64, d), sum: make([]float64, d)}
	for i := range tallies {
		t := &tallies[i]
		if err := t.check(); err != nil {
			return nil, err
		}
		if t.Layout != tallies[0].Layout {
			return nil, errors.New("tallies with different layouts")
		}
		for _, c := range columns {
			if c.Entry >= t.Layout.Columns || c.Entry < 0 && (c.Class < 0 || c.Class >= t.Layout.Classes) || t.counted() && c.Entry >= 0 && (c.Attribute < 0 || c.Attribute >= t.Layout.Attributes) {
				return nil, fmt.Errorf("a tally without column %+v", c)
			}
		}
		m.records += float64(t.Records)
	}
	for i, c := range columns {
		at := m.pair(c, c)
		m.mean[i], m.counts[i] = at.a, at.n
	}
	for i := range columns {
		m.sum[i] = m.dot(m.meanError(i), m.meanError(i))
	}
	m.unclipMeans()
	m.estimateLoss()
	if !tallies[0].Layout.Products {
		return m, nil
	}
	m.covariance = mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			p := m.pair(columns[i], columns[j])
			c := p.s/p.n - float64(p.a*p.b)
			if i == j {
				c += m.sum[i]
			}
			m.covariance.SetSym(i, j, c)
		}
	}
	return m, nil
}

// paired holds the sums of two columns over the records that have both.
type paired struct{ n, s, a, b float64 } // records, sum of products, means

// pair adds up all tallies. The number of records is at least one, whatever the noise.
func (m *Summed) pair(x, y TallyColumn) (p paired) {
	for i := range m.tallies {
		t := &m.tallies[i]
		n, a, b := t.count(x, y).value, t.sum(x, y).value, t.sum(y, x).value
		cx, ux := t.place(x)
		cy, uy := t.place(y)
		p.n += n
		p.a += float64(ux*a) + float64(cx*n)
		p.b += float64(uy*b) + float64(cy*n)
		if t.Layout.Products {
			s := t.product(x, y).value
			p.s += float64(float64(ux*uy)*s) + float64(float64(ux*cy)*a) + float64(float64(uy*cx)*b) + float64(float64(cx*cy)*n)
		}
	}
	p.n = math.Max(p.n, 1)
	p.a, p.b = p.a/p.n, p.b/p.n
	return p
}

// sourced is the weight of one noise, that of an entry of a tally, in a number.
type sourced struct {
	tally, entry int
	weight       float64
}

// sources are the noises in a number. After sorted they are in order, each once.
type sources []sourced

func (s sources) plus(tally int, weight float64, n number) sources {
	if weight != 0 {
		for _, t := range n.terms {
			s = append(s, sourced{tally, t.entry, weight * t.weight})
		}
	}
	return s
}

// sorted orders the noises and merges those of the same entry.
func (s sources) sorted() sources {
	slices.SortStableFunc(s, func(a, b sourced) int {
		return cmp.Or(cmp.Compare(a.tally, b.tally), cmp.Compare(a.entry, b.entry))
	})
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && out[n-1].tally == x.tally && out[n-1].entry == x.entry {
			out[n-1].weight += x.weight
			continue
		}
		out = append(out, x)
	}
	return out
}

// dot is the covariance of two numbers, whose sources must be sorted.
func (m *Summed) dot(s, r sources) (total float64) {
	for len(s) > 0 && len(r) > 0 {
		a, b := s[0], r[0]
		switch c := cmp.Or(cmp.Compare(a.tally, b.tally), cmp.Compare(a.entry, b.entry)); {
		case c < 0:
			s = s[1:]
		case c > 0:
			r = r[1:]
		default:
			total += float64(float64(a.weight*b.weight) * m.tallies[a.tally].Variances[a.entry])
			s, r = s[1:], r[1:]
		}
	}
	return total
}

// meanError is the error of the mean of a column over the records that have it.
func (m *Summed) meanError(i int) (out sources) {
	c := m.columns[i]
	for at := range m.tallies {
		t := &m.tallies[at]
		centre, unit := t.place(c)
		out = out.plus(at, unit/m.counts[i], t.sum(c, c)).plus(at, (centre-m.mean[i])/m.counts[i], t.count(c, c))
	}
	return out.sorted()
}

// covarianceError appends weight times the error of the covariance of two columns.
func (m *Summed) covarianceError(out sources, i, j int, weight float64) sources {
	x, y := m.columns[i], m.columns[j]
	p := m.pair(x, y)
	c := p.s/p.n - float64(p.a*p.b)
	weight /= p.n
	for at := range m.tallies {
		t := &m.tallies[at]
		cx, ux := t.place(x)
		cy, uy := t.place(y)
		a, b := p.a-cx, p.b-cy // around the tally's own centre
		out = out.plus(at, float64(weight*ux)*uy, t.product(x, y))
		out = out.plus(at, -float64(weight*ux)*b, t.sum(x, y)).plus(at, -float64(weight*uy)*a, t.sum(y, x))
		out = out.plus(at, weight*(float64(a*b)-c), t.count(x, y))
	}
	return out
}

// Kurtosis is the kurtosis of a column, from its noisy fourth powers. Ok is false if there are
// none, or if the column's variance does not stand out of the noise. Powers are around the centre
// of a tally. The effect of its distance from the mean is subtracted, except that of the third
// moment, which is not known. Entries count up to a size of 1, so for heavy tails the result is too
// small.
func (m *Summed) Kurtosis(i int) (k Kurtosis, ok bool) {
	c := m.columns[i]
	if m.covariance == nil || c.Entry < 0 || !m.tallies[0].Layout.Fourth {
		return Kurtosis{}, false
	}
	variance := m.covariance.At(i, i)
	if w := entry(i, i, 1); !(variance > 2*math.Sqrt(m.Covary(w, w))) {
		return Kurtosis{}, false
	}
	var fourth, noise float64
	for at := range m.tallies {
		t := &m.tallies[at]
		centre, unit := t.place(c)
		n, e := float64(t.Records)*m.counts[i]/m.records, t.Layout.FourthPower(c.Entry)
		off := m.mean[i] - centre
		u := unit * unit * unit * unit
		fourth += float64(u*t.Values[e]) - float64(n*(float64(float64(6*off*off)*variance)+float64(off*off*off*off)))
		noise += float64(float64(u*u) * t.Variances[e])
	}
	square := variance * variance * m.counts[i]
	return Kurtosis{Value: math.Max(fourth/square, 1), Error: math.Sqrt(noise) / square}, true
}

// Counts are how many records have each column. They must not be changed.
func (m *Summed) Counts() []float64 { return m.counts }
