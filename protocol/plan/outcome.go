package plan

import (
	"cmp"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Outcome is what a forecast comes to: a code that stays as it is, while the verdict's words may change.
type Outcome string

// The outcomes. All but the first are not usable, or not known to be.
const (
	Usable        Outcome = "usable"
	CutShort      Outcome = "cut short"       // the clip does more to it than the noise
	SpreadUnknown Outcome = "spread unknown"  // it hinges on what nobody told
	NoAnswer      Outcome = "no answer"       // it would be undefined
	OftenNoAnswer Outcome = "often no answer" // it would be undefined too often
	TooWide       Outcome = "too wide"        // nothing could be told by it
	NoPair        Outcome = "no pair"         // there is nothing to compare
	NotForecast   Outcome = "not forecast"    // this version has no forecast of it
	Uncentred     Outcome = "not centred"     // what depends on the columns' means has no forecast
)

// leads begin the verdicts that are not of something unusable.
var leads = map[Outcome]string{Usable: "usable: ", NoPair: "not planned: ", NotForecast: "not planned: ", Uncentred: "not forecast: "}

// Forecast reports whether there is a forecast at all.
func (o Outcome) Forecast() bool { return o != NoPair && o != NotForecast && o != Uncentred }

// says begins a verdict.
func (o Outcome) says(why string) string { return cmp.Or(leads[o], "not usable: ") + why }

// outcome is what the forecast of an analysis comes to.
func (c *cell) outcome(a study.Analysis, f Choice) Outcome {
	lost := oftenLost
	if a.Kind == study.PCA {
		lost = oftenLostAll
	}
	columns := c.sketch().Side != sketch.Cells // what clips and spreads do to these is in their numbers
	switch {
	case columns && f.Cut != "":
		return CutShort
	case columns && len(f.Hinges) > 0:
		return SpreadUnknown
	case f.undefined() != "":
		return NoAnswer
	case f.Usable:
		return Usable
	case columns && f.Lost > lost:
		return OftenNoAnswer
	}
	return TooWide
}

// undefined is why there would be no answer.
func (c Choice) undefined() string { return cmp.Or(c.Undefined, c.AtWorst.Undefined) }
