package forecast

import (
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Known is the prior knowledge of a column of a vertical study, relative to the centre that its
// sketch subtracts.
type Known struct {
	Column            // of its entries
	MaxLength float64 // required: upper bound on the length of its entries together
	Declared  bool    // the spread is declared, not assumed
	Bit       bool    // entries are bits minus their centre
}

// KnownBit is a bit around the middle of its range, of which nothing else is declared.
func KnownBit() Known {
	c := Binary(0.5 - offCentre/2)
	c.Mean -= 0.5
	return Known{Column: c, MaxLength: 0.5, Bit: true}
}

// KnownRate is a bit around its declared rate.
func KnownRate(rate float64) Known {
	c := Binary(rate)
	c.Mean = 0
	return Known{Column: c, MaxLength: math.Max(rate, 1-rate), Declared: true, Bit: true}
}

// KnownSpread is a number around its declared centre, three declared spreads being 1.
func KnownSpread() Known { return Known{Column: Normal(0, 1./3), MaxLength: 1, Declared: true} }

// KnownBounds is a number around the middle of its declared bounds. Its spread is assumed to be a
// tenth of their distance.
func KnownBounds() Known { return Known{Column: Normal(0, 0.1), MaxLength: 0.5} }

// KnownCategory is the one-hot entries of a category with one of a few values. They are not
// centred.
func KnownCategory() Known { return Known{Column: Binary(0.25), MaxLength: 1} }

// PartyColumns is the prior knowledge of one party of a vertical study.
type PartyColumns struct {
	Records float64 // required
	Columns []Known // required
}

// Layout is the columns-side sketch under unit record with the least forecast error.
type Layout struct {
	K    int
	Clip float64 // of a record, with its ones
	Ones float64
}

// BitLength is the length to which records of bits around their rates are clipped, in typical
// lengths: .9 to 1.3 give about the least error of correlations, by simulation.
const BitLength = 1.25

const (
	// offCentre is the assumed distance of a column's mean from the public centre if nothing is
	// declared, in units of Most: bits are 1 in one of seven, or six of seven.
	offCentre = 0.7
	// leastOnes and mostOnes bound the chosen weight of the ones.
	leastOnes, mostOnes = 0.5, 1
	// leastK and mostK bound the chosen k.
	leastK, mostK = 16, 1 << 14
)

// VerticalLayout chooses k, the clip and the weight of the ones for correlations between parties,
// at a Gaussian mechanism's μ for one party's release. Uncorrelated columns i and j of parties that
// hold n_A and n_B records have
//
//	Var(ρ̂) = [n_A s_i² n_B s_j²/k + v_i n_B s_j² + v_j n_A s_i² + k v_i v_j]/(N s_i s_j)²,
//	v_i = (B² + w²)/μ²·(1 + m_i²/w²)
//
// with means m around the centre, the length B to which values are clipped, and the weight w of the
// ones. So k is √(n_A n_B) s_i s_j/√(v_i v_j) for the median pair, w² is |m|B, and B is as long as
// nearly all records are. Nothing in it depends on the parties' data.
func VerticalLayout(holdings []PartyColumns, mu dp.Mu) Layout {
	var out Layout
	// The best clip depends on the error of correlations, and that error on the clip.
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

// length returns the length to clip a party's values to if ν is the error of correlations.
func (h PartyColumns) length(nu float64) float64 {
	var sum float64
	numbers := ClipRule(len(h.Columns), nu)
	for _, c := range h.Columns {
		m, most := numbers, c.MaxLength*c.MaxLength
		if c.Bit {
			m = BitLength
		}
		if c.Declared {
			most = math.Min(most, m*m*(c.Spread*c.Spread+c.Mean*c.Mean))
		}
		sum += most
	}
	return math.Sqrt(sum)
}

// off returns the distance of a typical column's mean from the public centre.
func (h PartyColumns) off() float64 {
	var all []float64
	for _, c := range h.Columns {
		if !c.Declared {
			all = append(all, offCentre*c.MaxLength)
		} else {
			all = append(all, math.Max(math.Abs(c.Mean), 0.3*c.Spread)) // declared centres are slightly off
		}
	}
	return median(all)
}

// project returns the k of the median pair, and the error of its correlation if both parties hold
// all records of the smaller one.
func (l Layout) project(holdings []PartyColumns, nu, mu float64) (k int, deviation float64) {
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
				continue // only pairs of two parties
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

// median returns the lower median; 0 if there are no numbers.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Clone(of)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}
