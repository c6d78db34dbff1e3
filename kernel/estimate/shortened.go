package estimate

import "math"

// A record that is clipped to length C loses its excess length, and nothing released says how much.
// The loss is estimated from the decrease of lengths up to C. A fraction p of the records is longer
// than a typical length r, and a fraction q is longer than C. A Pareto tail then has the index
//
//	α = ln(p/q)/ln(C/r)
//
// and clipped records have lost C/(α − 1) of their length on average, and 2C²/(α − 2) of its
// square. The tail of normal values falls ever faster, so they lose less. An index below 2 would
// mean an infinite variance.
//
// The sums of the clipped records, after clipping, tell which columns lost: means lack between
// nothing and 1/(α − 1) of these.
const (
	overTypical  = 0.2 // p: about 0.4 of normal records, 0.3 of collinear ones, 0.1 of skewed ones
	leastIndex   = 2.2
	leastOfMeans = 2.5  // for what means lose; it is 2 if one column makes records long
	mostlyNoise  = 2.25 // squares up to this many times the variance are treated as noise
)

// Prior is prior knowledge of an entry of records.
type Prior struct {
	Square    float64 // a typical square, in the tally's units
	Unbounded bool    // it is unbounded: such entries make records long
}

// squares returns the mean squares of entries, after clipping, and their sums over unbounded and
// over bounded entries. If no squares are known it uses the prior ones.
func (t *Tally) squares() (of []float64, endless, bounded float64) {
	for i, e := range t.Priors {
		square := e.Square
		if t.Layout.Products {
			at := t.Layout.Product(i, i)
			square = math.Max(t.Values[at], math.Sqrt(t.Variances[at])) / math.Max(1, float64(t.Records))
		}
		if of = append(of, square); e.Unbounded {
			endless += square
		} else {
			bounded += square
		}
	}
	return of, endless, bounded
}

// tail is the mean loss of a clipped record's squared length, in squared clips, if a fraction share
// of the records was clipped. Bounded entries have no part in the decrease of lengths, unless all
// are bounded.
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

// fall is the index of a Pareto tail where the number of records beyond a length falls by the
// factor fewer while its square grows by the factor longer.
func fall(fewer, longer float64) float64 { return stable(2 * math.Log(fewer) / math.Log(longer)) }

// gain is an upper bound on the mean excess length of a tally's clipped records, in clips. Share is
// the fraction of records that was clipped. Direction is the mean of these along an entry, as a
// fraction of the clip. If it is 1, the entry alone makes records long, by its outliers. The length
// over all entries says little of these: half as many are longer than a typical one, and they may
// be twice the clip. The excess is that of the part of the clip that grows.
func (t *Tally) gain(share float64, entry int, direction float64) float64 {
	of, all, bounded := t.squares()
	if all == 0 {
		all, bounded = bounded, 0
	}
	grows := all // the part of the squares of typical records that is larger in long ones
	if t.Priors[entry].Unbounded && direction > 0 {
		grows = math.Min(all, of[entry]/float64(direction*direction))
	}
	square := float64(t.clip() * t.clip())
	index, far := leastOfMeans-float64(direction/2), square-bounded-(all-grows) // the part of the squared length that grows, at the clip
	if far <= 0 {
		return 1 / (index - 1)
	}
	if longer := far / grows; share > 0 && longer > 1 {
		index = math.Max(index, fall(overTypical/(1+direction)/share, longer))
	}
	return far / square / (index - 1)
}

// clip is the mean clip of the tally's parties.
func (t *Tally) clip() (mean float64) {
	for _, c := range t.Clips {
		mean += c / float64(len(t.Clips))
	}
	return mean
}

// unclipped is a mean with half of what its records may have lost added back, and a bound on the
// remaining bias.
type unclipped struct{ value, variance, bias float64 }

// unclipMeans adds back to means half of what clipping may have removed. That is shrunk if it is small
// compared with its noise (James and Stein). It is zero unless the count of clipped records exceeds
// two of its standard errors. The rest of the possible loss bounds the bias, with sums counted one
// standard error larger. If the count does not exceed one standard error, nothing is assumed to be
// clipped.
func (m *Summed) unclipMeans() {
	m.mended = make([]unclipped, len(m.columns))
	for i, variance := range m.sum {
		m.mended[i] = unclipped{value: m.mean[i], variance: variance}
	}
	count, deviation := m.cut()
	if !m.tallies[0].Layout.CutSums || !(count > deviation) {
		return
	}
	for i, c := range m.columns {
		if c.Entry < 0 {
			continue // labels are not clipped
		}
		var sum, variance float64 // of clipped records along the entry
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
		m.mended[i] = unclipped{m.mean[i] + float64(back*most), m.dot(all, all), float64((2-back)*math.Abs(most)) + math.Sqrt(noise)}
	}
}

// cut is the noisy count of clipped records, and its standard error.
func (m *Summed) cut() (count, deviation float64) {
	for i := range m.tallies {
		if t := &m.tallies[i]; t.Layout.Cut {
			count += t.Values[t.Layout.CutCount()]
			deviation += t.Variances[t.Layout.CutCount()]
		}
	}
	return count, math.Sqrt(deviation)
}

// clippingLoss is how much clipping may have reduced the variance of a column.
type clippingLoss struct {
	variance float64
	shared   float64 // by the column's plain fraction of the squares, for covariances
}

// estimateLoss estimates the losses. Of the lost squares a column has its fraction of all squares. For
// variances that is the cube root of the fraction, as one column may be long much more often than
// others. Variances depend on the longest records, and the noise of the count may hide a few of
// them, so the count is taken one standard error larger.
func (m *Summed) estimateLoss() {
	count, deviation := m.cut()
	most := math.Max(count, 0) + deviation
	if most == 0 {
		return
	}
	m.lost = make([]clippingLoss, len(m.columns))
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
				continue // labels are not clipped
			}
			_, unit := t.place(c)
			part := parts[c.Entry]
			m.lost[i].variance += float64(float64(unit*unit)*square) * stable(math.Cbrt(part)) / m.counts[i]
			m.lost[i].shared += float64(float64(unit*unit)*square) * part / m.counts[i]
		}
	}
}

// parts are the fractions of entries in the squares of a tally's records: for unbounded entries, of
// the squares of unbounded ones only.
func (t *Tally) parts() []float64 {
	out, endless, bounded := t.squares()
	for i, e := range t.Priors {
		all := endless
		if !e.Unbounded {
			all += bounded
		}
		if all > 0 {
			out[i] /= all
		}
	}
	return out
}

// whole widens the interval of a covariance, or of a variance, by what clipping may have removed:
// away from zero, and for two columns in proportion to the size of their correlation.
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

// reach is the half-width of an interval for an error with a standard deviation and an unknown mean
// of size at most bias: the quantile of |bias + deviation·Z| (Armstrong and Kolesár 2018, eq. 18).
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
