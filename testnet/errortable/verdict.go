package errortable

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/study"
)

// Grade says how useful an answer is.
type Grade string

// The grades. Numbers are good if their error is at most a quarter of their typical size and none
// is undefined. They are rough if it is at most three fifths and at most half of them are
// undefined. Clusters and classifiers are graded by how far they get from a single group for all
// records to the pooled data: good from four fifths of the way, rough from two fifths.
const (
	Good  Grade = "good"
	Rough Grade = "rough"
	NoUse Grade = "NO USE"
)

// Verdict is a grade with its reasons.
type Verdict struct {
	Kind  study.AnalysisKind `json:"kind"`
	Grade Grade              `json:"grade"`
	Said  string             `json:"said"`
}

// Verdicts returns a verdict for every analysis, in the order of the table.
func (t Table) Verdicts() []Verdict {
	var out []Verdict
	for _, n := range t.Numbers {
		out = append(out, n.verdict(t.Cut))
	}
	for _, g := range t.Groups {
		out = append(out, g.verdict())
	}
	for _, c := range t.Classes {
		out = append(out, c.verdict())
	}
	for _, u := range t.Missing {
		out = append(out, Verdict{u.Kind, NoUse, "no answer: " + u.Reason})
	}
	return out
}

func (n Numbers) verdict(cut float64) Verdict {
	defined := n.Answers - n.Undefined
	out := Verdict{Kind: n.Kind, Grade: NoUse}
	if defined == 0 {
		out.Said = fmt.Sprintf("all %d are undefined: they do not stand out of their errors", n.Answers)
		return out
	}
	share := n.RMSE / n.Size
	switch {
	case 2*n.Undefined > n.Answers:
	case share <= 0.25 && n.Undefined == 0:
		out.Grade = Good
	case share <= 0.6:
		out.Grade = Rough
	}
	out.Said = n.subject() + " by " + n.amount(n.RMSE)
	if n.Kind != study.Mean && n.Kind != study.Intersection {
		out.Said += fmt.Sprintf(", where they are %s in root mean square", n.amount(n.Size))
	}
	out.Said += fmt.Sprintf("; %d of %d intervals hold the truth", n.Covered, defined)
	if n.ByTerms > n.Covered {
		out.Said += fmt.Sprintf(", and %d hold what it is after the study's own bounds, centres and clip", n.ByTerms)
	}
	if n.Undefined > 0 {
		out.Said += fmt.Sprintf("; %d undefined", n.Undefined)
	}
	if out.Grade != Good {
		out.Said += ". " + n.reason(cut)
	}
	return out
}

func (n Numbers) subject() string {
	answers, err := fmt.Sprintf("%d answers", n.Answers-n.Undefined), "err"
	switch {
	case n.Of == "R²":
		answers, err = "R²", "errs"
	case n.Answers-n.Undefined == 1:
		answers, err = "1 answer", "errs"
	case n.Of != "":
		answers = fmt.Sprintf("%d %s", n.Answers-n.Undefined, n.Of)
	}
	return answers + " " + err
}

// amount formats a size in the measure.
func (n Numbers) amount(x float64) string {
	switch n.Measure {
	case "share":
		return fmt.Sprintf("%.2g %%", 100*x)
	case "":
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.2g %s", x, n.Measure)
}

// reason says what causes most of an error.
func (n Numbers) reason(cut float64) string {
	switch {
	case 2*n.Terms*n.Terms > n.RMSE*n.RMSE:
		return "Most of it is what the study's own terms make of the data: bounds, centres for missing values, and the clip."
	case n.Forecast != nil && 2*n.Forecast.Hardest >= n.RMSE:
		return "Projection and noise, as the plan forecast: " + n.Forecast.Verdict + "."
	case cut > 0.2:
		return fmt.Sprintf("Most likely the clip: %.0f %% of the records are cut to it.", 100*cut)
	case n.Forecast != nil:
		return "More than the plan forecast: " + n.Forecast.Verdict + "."
	}
	return "Projection and noise; the plan has no forecast for it."
}

func (g Groups) verdict() Verdict {
	out := Verdict{Kind: g.Kind, Grade: way(g.Pooled.Share, g.Pooled.Baseline, 1)}
	out.Said = fmt.Sprintf("agree with the pooled clusters on %.1f %% of the records, one cluster for everybody on %.1f %%", 100*g.Pooled.Share, 100*g.Pooled.Baseline)
	if g.Known != nil {
		out.Said += fmt.Sprintf("; with %s on %.1f %%, where the pooled ones do on %.1f %% and one for everybody on %.1f %%",
			g.Column, 100*g.Known.Share, 100*g.Ceiling, 100*g.Known.Baseline)
	}
	if out.Grade != Good && g.Forecast != nil {
		out.Said += ". The plan: " + g.Forecast.Verdict
	}
	return out
}

func (c Classes) verdict() Verdict {
	out := Verdict{Kind: c.Kind, Grade: way(c.Accuracy, c.Baseline, c.Pooled)}
	out.Said = fmt.Sprintf("predicts %s rightly for %.1f %% [%.1f, %.1f], with %s labels; the largest class is %.1f %%, pooled data reach %.1f %%",
		c.Column, 100*c.Accuracy, 100*c.Low, 100*c.High, c.Labels, 100*c.Baseline, 100*c.Pooled)
	if out.Grade != Good {
		out.Said += ". It learns from rows with their noise, and predicts such rows"
	}
	return out
}

// way grades how far reached gets from a baseline to the best possible value.
func way(reached, baseline, most float64) Grade {
	share := (reached - baseline) / max(most-baseline, 1e-9)
	switch {
	case share >= 0.8:
		return Good
	case share >= 0.4:
		return Rough
	}
	return NoUse
}
