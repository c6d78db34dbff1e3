package estimate

import "math"

// A record that is cut to C loses what it is longer, and nothing that is released says how much.
// It is taken from how lengths fall up to C: where a share p of the records is longer than a
// typical one of length r, and a share q is longer than C, as in a Pareto tail of index
//
//	α = ln(p/q)/ln(C/r)
//
// of which cut records have lost C/(α − 1) of their length on average, and 2C²/(α − 2) of its
// square. Lengths of normal values fall ever faster, and lose less. Below 2 there would be no variance.
//
// In which columns they lost it is told by the sums of the cut records, as they are after it: what
// means lack is between nothing and 1/(α − 1) of these.
const (
	overTypical  = 0.2 // p: about 0.4 of normal records, 0.3 of collinear ones, 0.1 of skewed ones
	leastIndex   = 2.2
	leastOfMeans = 2.5  // of what means lose, and 2 where one column makes records long
	mostlyNoise  = 2.25 // times the variance: squares of no more are taken for noise
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

// tail is what a record of a tally has lost that was cut, of the square of its length on average and in
// clips, if such a share was. What has bounds is no part of how lengths fall, unless all has.
func (t *Tally) tail(share float64) (square float64) {
	_, endless, bounded := t.squares()
	if endless == 0 {
		endless, bounded = bounded, 0
	}
	clip := t.clip()
	index, longer := leastIndex, (float64(clip*clip)-bounded)/endless
	if share > 0 && longer > 1 {
		index = math.Max(index, fall(overTypical/share, longer))
	}
	return 2 / (index - 2)
}

// fall is the index of a Pareto tail in which so many times fewer records are beyond a length whose square is so
// many times larger.
func fall(fewer, longer float64) float64 { return stable(2 * math.Log(fewer) / math.Log(longer)) }

// gain is how much longer than the clip, in clips, a tally's cut records are on average at most, if
// such a share was cut and their mean is this part of the clip in the direction of an entry. Where that is 1,
// the entry alone makes records long, by values that are far out for one of its kind: a length of all
// entries says little of these, half as many are longer than a typical one, and they may be twice the clip. What
// does not grow is a part of the clip that nothing is lost beyond.
func (t *Tally) gain(share float64, entry int, direction float64) float64 {
	of, all, bounded := t.squares()
	if all == 0 {
		all, bounded = bounded, 0
	}
	grows := all // of the squares of typical records, the part that is larger in long ones
	if t.Thought[entry].Endless && direction > 0 {
		grows = math.Min(all, of[entry]/float64(direction*direction))
	}
	square := float64(t.clip() * t.clip())
	index, far := leastOfMeans-float64(direction/2), square-bounded-(all-grows) // the squared length that grows, at the clip
	if far <= 0 {
		return 1 / (index - 1)
	}
	if longer := far / grows; share > 0 && longer > 1 {
		index = math.Max(index, fall(overTypical/(1+direction)/share, longer))
	}
	return far / square / (index - 1)
}

// clip is the mean of those of the tally's parties.
func (t *Tally) clip() (mean float64) {
	for _, c := range t.Clips {
		mean += c / float64(len(t.Clips))
	}
	return mean
}

// mended is a mean with half of what its records may have lost, and by how much that can be wrong.
type mended struct{ value, variance, bias float64 }

// mend gives means back half of what they may have lost by records that were cut. That is shrunk where
// it is little beside its noise, as James and Stein did, and none is where the count of cut records does
// not stand out of its noise by two standard errors. The rest of what they may have lost is the most that
// they are off by, sums counting for a standard error more than they are. Where the count does not stand
// out by one, nothing was cut.
func (m *Summed) mend() {
	m.mended = make([]mended, len(m.columns))
	for i, variance := range m.sum {
		m.mended[i] = mended{value: m.mean[i], variance: variance}
	}
	count, deviation := m.cut()
	if !m.tallies[0].Layout.CutSums || !(count > deviation) {
		return
	}
	for i, c := range m.columns {
		if c.Entry < 0 {
			continue // labels are not cut
		}
		var sum, variance float64 // of cut records in the direction of the entry
		for at := range m.tallies {
			t := &m.tallies[at]
			clip, e := t.clip(), t.Layout.CutSum(c.Entry)
			sum += t.Values[e] / clip
			variance += t.Variances[e] / float64(clip*clip)
		}
		direction := math.Min(1, math.Max(0, math.Abs(sum)-math.Sqrt(variance))/count)
		var most float64
		var added sources
		for at := range m.tallies {
			t := &m.tallies[at]
			_, unit := t.place(c)
			weight := float64(unit/2) * t.gain(count/m.records, c.Entry, direction) / m.counts[i]
			most += float64(weight * t.Values[t.Layout.CutSum(c.Entry)])
			added = added.plus(at, weight, t.at(t.Layout.CutSum(c.Entry)))
		}
		added = added.sorted()
		noise := m.dot(added, added)
		back := 0.0
		if square := most * most; count > 2*deviation && square > mostlyNoise*noise {
			back = 1 - mostlyNoise*noise/square
		}
		all := m.meanError(i)
		for _, s := range added {
			s.weight *= back
			all = append(all, s)
		}
		all = all.sorted()
		m.mended[i] = mended{m.mean[i] + float64(back*most), m.dot(all, all), float64((2-back)*math.Abs(most)) + math.Sqrt(noise)}
	}
}

// cut is the noisy count of records that were cut, and its standard error.
func (m *Summed) cut() (count, deviation float64) {
	for i := range m.tallies {
		if t := &m.tallies[i]; t.Layout.Cut {
			count += t.Values[t.Layout.CutCount()]
			deviation += t.Variances[t.Layout.CutCount()]
		}
	}
	return count, math.Sqrt(deviation)
}

// lost is how much too small records that were cut may have made the variance of a column.
type lost struct {
	variance float64
	shared   float64 // as variance, where columns have their parts: of what two of them have in common
}

// shorten tells what was lost. A column has its part of the squares of all, and of what one column
// loses the cube root of that, as where one is long much more often than others. Variances hang on the
// longest records, and few of them may hide in the noise of the count: there it is a standard error more.
func (m *Summed) shorten() {
	count, deviation := m.cut()
	most := math.Max(count, 0) + deviation
	if most == 0 {
		return
	}
	m.lost = make([]lost, len(m.columns))
	for at := range m.tallies {
		t := &m.tallies[at]
		if len(t.Clips) == 0 {
			continue
		}
		clip := t.clip()
		square := float64(float64(t.tail(most/m.records)*clip)*clip) * (most * float64(t.Records) / m.records)
		parts := t.parts()
		for i, c := range m.columns {
			if c.Entry < 0 {
				continue // labels are not cut
			}
			_, unit := t.place(c)
			part := parts[c.Entry]
			m.lost[i].variance += float64(float64(unit*unit)*square) * stable(math.Cbrt(part)) / m.counts[i]
			m.lost[i].shared += float64(float64(unit*unit)*square) * part / m.counts[i]
		}
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
