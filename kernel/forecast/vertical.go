package forecast

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Known is a column of a vertical study as it is known beforehand, around what its sketch
// takes off it.
type Known struct {
	Column         // of its entries
	Most   float64 // required: what its entries together are never longer than
	Told   bool    // the spread is declared, and not assumed
	Bit    bool    // entries are bits less their centre
}

// What is known of columns of each kind, around their public centres: nothing but the range
// of bits is told, the rate of others, centre and spread of numbers, or their bounds, in
// which real ones are about a tenth as far apart; the entries of a category are uncentred.
func KnownBit() Known {
	c := Binary(0.5 - offCentre/2)
	c.Mean -= 0.5
	return Known{Column: c, Most: 0.5, Bit: true}
}

// KnownRate is a bit around its declared rate.
func KnownRate(rate float64) Known {
	c := Binary(rate)
	c.Mean = 0
	return Known{Column: c, Most: math.Max(rate, 1-rate), Told: true, Bit: true}
}

// KnownSpread is a number around its declared centre, three declared spreads being 1.
func KnownSpread() Known { return Known{Column: Normal(0, 1./3), Most: 1, Told: true} }

// KnownBounds is a number around the middle of its bounds.
func KnownBounds() Known { return Known{Column: Normal(0, 0.1), Most: 0.5} }

// KnownCategory is the one-hot entries of a category with one of a few values.
func KnownCategory() Known { return Known{Column: Binary(0.25), Most: 1} }

// Holding is what is known of one party of a vertical study.
type Holding struct {
	Records float64 // required
	Columns []Known // required
}

// Layout is a columns-side sketch under unit record, by least forecast error.
type Layout struct {
	K    int
	Clip float64 // of a record, with its ones
	Ones float64
}

// BitLength is how long records of bits around their rates are cut, in typical ones: with .9 to
// 1.3 correlations have about the least error, by simulation.
const BitLength = 1.25

const (
	// offCentre is how far the mean of a column is thought to be from the public centre where
	// nothing is told, in units of Most: bits are 1 in one of seven, or six of seven.
	offCentre = 0.7
	// leastOnes and mostOnes are the weights of the ones that are chosen.
	leastOnes, mostOnes = 0.5, 1
	// leastK and mostK bound the projections that are chosen.
	leastK, mostK = 16, 1 << 14
)

// VerticalLayout chooses k, the clip and the weight of the ones for correlations between
// parties, at a Gaussian mechanism's μ for one party's release. Two records' columns i and j
// of parties that hold n_A and n_B have
//
//	Var(ρ̂) = [n_A s_i² n_B s_j²/k + v_i n_B s_j² + v_j n_A s_i² + k v_i v_j]/(N s_i s_j)²,
//	v_i = (B² + w²)/μ²·(1 + m_i²/w²)
//
// where they are uncorrelated, m being means around the centre, B what values are cut to and w
// the ones. So k is √(n_A n_B) s_i s_j/√(v_i v_j), for the median pair, w² is |m|B, and B as
// long as nearly all records are. Nothing in it depends on the parties' data.
func VerticalLayout(holdings []Holding, mu dp.Mu) Layout {
	var out Layout
	// The clip of numbers depends on the error that it leaves, and that on the clip.
	nu := 0.1
	for range 2 {
		longest, typical := 0.0, []float64{}
		for _, h := range holdings {
			b := h.length(nu)
			longest = math.Max(longest, b)
			typical = append(typical, b*h.off())
		}
		out.Ones = math.Min(math.Max(upTo(math.Sqrt(median(typical)), 20), leastOnes), mostOnes)
		out.Clip = upTo(math.Hypot(longest, out.Ones), 100)
		out.K, nu = out.project(holdings, nu, float64(mu))
	}
	return out
}

// upTo rounds up to a multiple of 1/n.
func upTo(x, n float64) float64 { return math.Ceil(x*n-1e-9) / n }

// length is what a party's values are to be cut to where correlations err by ν.
func (h Holding) length(nu float64) float64 {
	var sum float64
	numbers := ClipRule(len(h.Columns), nu)
	for _, c := range h.Columns {
		m, most := numbers, c.Most*c.Most
		if c.Bit {
			m = BitLength
		}
		if c.Told {
			most = math.Min(most, m*m*(c.Spread*c.Spread+c.Mean*c.Mean))
		}
		sum += most
	}
	return math.Sqrt(sum)
}

// off is how far the mean of a typical column is from the public centre.
func (h Holding) off() float64 {
	var all []float64
	for _, c := range h.Columns {
		if !c.Told {
			all = append(all, offCentre*c.Most)
		} else {
			all = append(all, math.Max(math.Abs(c.Mean), 0.3*c.Spread)) // declared centres are a little off
		}
	}
	return median(all)
}

// project is the k of the median pair, and the error of its correlation where both hold all
// records of the smaller party.
func (l Layout) project(holdings []Holding, nu, mu float64) (k int, deviation float64) {
	type side struct{ records, signal, noise float64 } // signal n s², noise v of the median column
	var sides []side
	for _, h := range holdings {
		b := math.Min(h.length(nu), math.Sqrt(l.Clip*l.Clip-l.Ones*l.Ones))
		m := h.off() / l.Ones
		v := (b*b + l.Ones*l.Ones) / (mu * mu) * (1 + m*m)
		var variances []float64
		for _, c := range h.Columns {
			variances = append(variances, c.Spread*c.Spread)
		}
		sides = append(sides, side{h.Records, h.Records * median(variances), v})
	}
	var ks, errs []float64
	for i, a := range sides {
		for j, b := range sides[:i+1] {
			if i == j && len(sides) > 1 {
				continue // of two parties
			}
			k := math.Sqrt(a.signal * b.signal / (a.noise * b.noise))
			k = math.Min(math.Max(k, leastK), mostK)
			shared := math.Min(a.records, b.records)
			products := a.signal / a.records * b.signal / b.records * shared * shared
			ks = append(ks, k)
			errs = append(errs, math.Sqrt((a.signal*b.signal/k+a.noise*b.signal+b.noise*a.signal+k*a.noise*b.noise)/products))
		}
	}
	k = max(leastK, int(median(ks)))
	if k > 100 { // two digits: the error is flat there
		step := math.Pow(10, math.Floor(math.Log10(float64(k)))-1)
		k = int(math.Round(float64(k)/step) * step)
	}
	return k, median(errs)
}

// median is the middle of some numbers, the lower of two; 0 of none.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Clone(of)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}
