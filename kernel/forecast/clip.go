package forecast

import "math"

// ClipRule returns the best length to clip records of d entries to, in units of the length of a
// typical record: .6 + .8/√d − .2·ln ν between 1 and 3. ν is the standard error of the mean of
// records of typical length, in spreads. It is the least length that keeps the bias of means below
// .4 of their standard error for most of a family of distributions, and was found by simulation.
func ClipRule(d int, nu float64) float64 { return clipRule(d, nu, .2, 3) }

// BlindClip returns the length to clip records to if nobody sees its effect before all is answered,
// as under masks. Of the entries, endless ones have unbounded values, a typical one being 1/3; the
// others are bounded, with this squared length. It is the length of [ClipRule] or, if longer, one
// at which unbounded values count for m times their own length, m = .6 + .8/√endless − .32·ln ν
// between 1 and 5. The error of means of bell-shaped values is at most two and a half times that at
// their best length. For real skewed values with little noise it is 2 to 8 times that, where
// ClipRule alone gives 5 to 13 times; the length then clips so many records that their count shows
// it.
func BlindClip(entries, endless int, bounded, nu float64) float64 {
	own := float64(endless) / 9
	m := clipRule(max(endless, 1), nu, .32, 5)
	return math.Max(ClipRule(max(entries, 1), nu)*math.Sqrt(bounded+own), math.Sqrt(bounded+float64(m*m*own)))
}

func clipRule(d int, nu, slope, most float64) float64 {
	if !(nu > 0) {
		return most
	}
	return math.Min(math.Max(.6+.8/math.Sqrt(float64(d))-float64(slope*math.Log(nu)), 1), most)
}
