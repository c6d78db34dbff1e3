package plan

import "cmp"

// Outcome is the result of a forecast. It is a stable code; the verdict's words may change.
type Outcome string

// The outcomes. All except the first are not usable, or not known to be.
const (
	Usable        Outcome = "usable"
	CutShort      Outcome = "cut short"       // the clip affects it more than the noise
	SpreadUnknown Outcome = "spread unknown"  // it depends on an unknown spread
	NoAnswer      Outcome = "no answer"       // it would be undefined
	OftenNoAnswer Outcome = "often no answer" // it would be undefined too often
	TooWide       Outcome = "too wide"        // it could not tell anything
	NoPair        Outcome = "no pair"         // there is nothing to compare
	NotForecast   Outcome = "not forecast"    // this version has no forecast of it
	Uncentred     Outcome = "not centred"     // it depends on the columns' means, which have no forecast
)

// leads begin the verdicts that do not say "not usable".
var leads = map[Outcome]string{Usable: "usable: ", NoPair: "not planned: ", NotForecast: "not planned: ", Uncentred: "not forecast: "}

// Forecast reports whether there is a forecast at all.
func (o Outcome) Forecast() bool { return o != NoPair && o != NotForecast && o != Uncentred }

// says begins a verdict.
func (o Outcome) says(why string) string { return cmp.Or(leads[o], "not usable: ") + why }

// outcome returns the outcome of a choice.
func (f *forecaster) outcome(c Choice) Outcome {
	switch {
	case !f.inward && c.Cut != "":
		return CutShort
	case !f.inward && len(c.UnknownSpreads) > 0:
		return SpreadUnknown
	case c.undefined() != "":
		return NoAnswer
	case c.Usable:
		return Usable
	case !f.inward && c.Lost > f.losing().often:
		return OftenNoAnswer
	}
	return TooWide
}

// undefined says why there would be no answer.
func (c Choice) undefined() string { return cmp.Or(c.Undefined, c.AtWorst.Undefined) }
