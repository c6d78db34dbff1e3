package estimate

import "math"

// Shortened is what is known of the records of a tally that were cut to a length: by their noisy
// count, the sum of the lengths that they were cut to and that of their squares, in the
// tally's units.
type Shortened struct {
	Length, Square float64
}

// Plus is what is known of both.
func (s Shortened) Plus(t Shortened) Shortened {
	return Shortened{s.Length + t.Length, s.Square + t.Square}
}

// A record that is cut to C loses what it is longer, and nothing that is released says how much.
// If lengths beyond C fall like a Pareto tail of index 3, that is C/2 of its length on average,
// and 2C² of its square: lognormal and lighter tails lose less, of index 2 and below have no variance.
const (
	excessLength = 0.5
	excessSquare = 2.0
)

// lost is by how much records that were cut may have moved the mean of a column, and how much too
// small they may have made its variance.
type lost struct {
	mean, variance float64
}

// shorten tells what was lost. A column has its part of the squares of all: of squared lengths
// that part, and of a length its root, as where all columns are long at once and in one direction.
// Where each record is long by another column, it is less. A count that does not stand out of its
// noise by a standard error counts as none.
func (m *Summed) shorten() {
	var count, variance float64
	for i := range m.tallies {
		if t := &m.tallies[i]; t.Layout.Cut {
			count += t.Values[t.Layout.CutCount()]
			variance += t.Variances[t.Layout.CutCount()]
		}
	}
	if !(count > math.Sqrt(variance)) {
		return
	}
	m.lost = make([]lost, len(m.columns))
	for at := range m.tallies {
		t := &m.tallies[at]
		parts := t.parts()
		for i, c := range m.columns {
			if c.Entry < 0 {
				continue // labels are not cut
			}
			_, unit := t.place(c)
			part := parts[c.Entry]
			m.lost[i].mean += float64(float64(unit*excessLength)*t.Shortened.Length) * math.Sqrt(part) / m.counts[i]
			m.lost[i].variance += float64(float64(float64(unit*unit)*excessSquare)*t.Shortened.Square) * part / m.counts[i]
		}
	}
	for i := range m.lost { // of one tally the count may be below none
		m.lost[i] = lost{math.Max(0, m.lost[i].mean), math.Max(0, m.lost[i].variance)}
	}
}

// parts are those of entries in the squares of all of a tally's records: equal ones where no
// squares are known.
func (t *Tally) parts() []float64 {
	out := make([]float64, t.Layout.Columns)
	var all float64
	for i := range out {
		out[i] = 1
		if t.Layout.Products {
			at := t.Layout.Product(i, i)
			out[i] = math.Max(t.Values[at], math.Sqrt(t.Variances[at]))
		}
		all += out[i]
	}
	for i := range out {
		if all > 0 {
			out[i] /= all
		}
	}
	return out
}

// shortened is what was lost of column i.
func (m *Summed) shortened(i int) lost {
	if m.lost == nil {
		return lost{}
	}
	return m.lost[i]
}

// whole is the interval of the covariance of two columns, or of the variance of one, that allows for
// what was lost: away from zero, and for two columns as much of it as their correlation says.
func (m *Summed) whole(e Estimate, i, j int) Estimate {
	if m.lost == nil || !e.Defined() {
		return e
	}
	if i == j {
		e.High += m.lost[i].variance
		return e
	}
	c, norm := m.covariance.At(i, j), math.Sqrt(math.Max(0, m.covariance.At(i, i)))*math.Sqrt(math.Max(0, m.covariance.At(j, j)))
	share := 1.0
	if norm > 0 {
		share = math.Min(1, math.Abs(c)/norm)
	}
	off := float64(float64(share*math.Sqrt(m.lost[i].variance)) * math.Sqrt(m.lost[j].variance))
	if c > 0 {
		e.High += off
	} else {
		e.Low -= off
	}
	return e
}

// reach is how far an interval goes to either side of a number whose error has a standard deviation,
// and a mean that is not known but for a bound on its size: the quantile of |bias + deviation·Z|
// (Armstrong and Kolesár 2018, eq. 18).
func (l Level) reach(deviation, bias float64) float64 {
	if bias == 0 || deviation == 0 {
		return float64(l.z()*deviation) + bias
	}
	b := bias / deviation
	inside := func(h float64) float64 {
		return stable((math.Erfc((b-h)/math.Sqrt2) - math.Erfc((b+h)/math.Sqrt2)) / 2)
	}
	level := float64(l.orDefault())
	return float64(deviation * stable(bisect(0, b+l.z(), func(h float64) bool { return inside(h) < level })))
}
