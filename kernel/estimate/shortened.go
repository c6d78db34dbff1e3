package estimate

import "math"

// Shortened is what is known of the records of one party that were cut.
type Shortened struct {
	Count float64 // noisy
	Clip  float64 // what they were cut to, in the tally's units
}

// A record that is cut to C loses what it is longer, and nothing that is released says how much.
// It is taken from how lengths fall up to C: where a share p of the records is longer than a
// typical one of length r, and a share q is longer than C, as in a Pareto tail of index
//
//	α = ln(p/q)/ln(C/r)
//
// of which cut records have lost C/(α − 1) of their length on average, and 2C²/(α − 2) of its
// square. Lengths of normal values fall ever faster, and lose less. Below 2 there would be no variance.
const (
	overTypical  = 0.2 // p: about 0.4 of normal records, 0.3 of collinear ones, 0.1 of skewed ones
	leastIndex   = 2.2
	leastOfMeans = 3.0 // of what means lose: cut records are half as long again on average, or less
)

// Thought is what is known beforehand of an entry of records.
type Thought struct {
	Square  float64 // a typical one, in the tally's units
	Endless bool    // nothing bounds it: it is by such entries that records are long
}

// squares are the mean squares of entries, as they were cut, and their sums over entries that have no
// bound and over the others; what is thought beforehand where no squares are known.
func (t *Tally) squares() (of []float64, endless, bounded float64) {
	for i, e := range t.Thought {
		square := e.Square
		if t.Layout.Products {
			at := t.Layout.Product(i, i)
			square = math.Max(t.Values[at], math.Sqrt(t.Variances[at])) / math.Max(1, float64(t.Records))
		}
		if of = append(of, square); e.Endless {
			endless += square
		} else {
			bounded += square
		}
	}
	return of, endless, bounded
}

// tail is what a record of a tally has lost that was cut, on average and in clips, if such a share
// was: of its length, and of the square of that. What has bounds is no part of how lengths fall,
// unless all has.
func (t *Tally) tail(share float64) (length, square float64) {
	_, endless, bounded := t.squares()
	if endless == 0 {
		endless, bounded = bounded, 0
	}
	clip := t.clip()
	index, longer := leastIndex, (float64(clip*clip)-bounded)/endless
	if share > 0 && longer > 1 {
		index = math.Max(index, 2*math.Log(overTypical/share)/math.Log(longer))
	}
	return 1 / (math.Max(index, leastOfMeans) - 1), 2 / (index - 2)
}

// clip is the mean of those of the tally's parties.
func (t *Tally) clip() (mean float64) {
	for _, s := range t.Shortened {
		mean += s.Clip / float64(len(t.Shortened))
	}
	return mean
}

// lost is by how much records that were cut may have moved the mean of a column, and how much too
// small they may have made its variance.
type lost struct {
	mean, variance float64
	shared         float64 // as variance, where columns have their parts: of what two of them have in common
}

// shorten tells what was lost. A column has its part of the squares of all, and of what one column
// loses the root of that: as where all columns are long at once and in one direction, for means, and
// as where one is long more often than others, for variances. A count that does not stand out of its
// noise by a standard error counts as none for means. Variances hang on the longest records, and few
// of them may hide in the noise of the count: there it is a standard error more.
func (m *Summed) shorten() {
	var count, variance, records float64
	for i := range m.tallies {
		if t := &m.tallies[i]; t.Layout.Cut {
			count += t.Values[t.Layout.CutCount()]
			variance += t.Variances[t.Layout.CutCount()]
			records += float64(t.Records)
		}
	}
	deviation := math.Sqrt(variance)
	most := math.Max(count, 0) + deviation
	if most == 0 {
		return
	}
	m.lost = make([]lost, len(m.columns))
	for at := range m.tallies {
		t := &m.tallies[at]
		if len(t.Shortened) == 0 {
			continue
		}
		var length float64
		for _, s := range t.Shortened {
			if count > deviation {
				length += float64(s.Count * s.Clip)
			}
		}
		clip := t.clip()
		ofLength, _ := t.tail(count / records)
		_, ofSquare := t.tail(most / records)
		length *= ofLength
		square := float64(float64(ofSquare*clip)*clip) * (most * float64(t.Records) / records)
		parts := t.parts()
		for i, c := range m.columns {
			if c.Entry < 0 {
				continue // labels are not cut
			}
			_, unit := t.place(c)
			part := parts[c.Entry]
			m.lost[i].mean += float64(unit*length) * math.Sqrt(part) / m.counts[i]
			m.lost[i].variance += float64(float64(unit*unit)*square) * math.Sqrt(part) / m.counts[i]
			m.lost[i].shared += float64(float64(unit*unit)*square) * part / m.counts[i]
		}
	}
	for i := range m.lost { // of one tally the count may be below none
		m.lost[i].mean = math.Max(0, m.lost[i].mean)
	}
}

// parts are those of entries in the squares of all of a tally's records; of those that have no bound,
// in the squares of these.
func (t *Tally) parts() []float64 {
	out, endless, bounded := t.squares()
	for i, e := range t.Thought {
		all := endless
		if !e.Endless {
			all += bounded
		}
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
	off := float64(float64(share*math.Sqrt(m.lost[i].shared)) * math.Sqrt(m.lost[j].shared))
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
