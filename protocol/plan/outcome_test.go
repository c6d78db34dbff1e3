package plan

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Each forecast has one outcome, which begins its verdict: what is nearer to the cause goes first.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		side sketch.Side
		kind study.AnalysisKind
		f    Choice
		want Outcome
		lead string
	}{
		{sketch.Columns, study.Correlation, Choice{Usable: true, Lost: 1}, Usable, "usable: |ρ| ≥ "},
		{sketch.Columns, study.Correlation, Choice{Cut: "the clip cuts", Hinges: []string{"a"}, Undefined: "lost"}, CutShort, "not usable: the clip cuts"},
		{sketch.Columns, study.Correlation, Choice{Hinges: []string{"a"}, Undefined: "lost"}, SpreadUnknown, "not usable: it depends on the spread of a"},
		{sketch.Columns, study.Correlation, Choice{AtWorst: End{Undefined: "lost"}, Lost: 1}, NoAnswer, "not usable: lost"},
		{sketch.Columns, study.Correlation, Choice{Lost: .07}, OftenNoAnswer, "not usable: with a probability of 0.07 it would have no answer"},
		{sketch.Columns, study.PCA, Choice{Lost: .07}, TooWide, "not usable: errors alone"},
		{sketch.Columns, study.PCA, Choice{Lost: .2}, OftenNoAnswer, "not usable: with a probability of 0.2 it would lack a column"},
		{sketch.Columns, study.Mean, Choice{}, TooWide, "not usable: a mean would err"},
		{sketch.Cells, study.KMeans, Choice{Hinges: []string{"a"}, Lost: 1}, TooWide, "not usable: clusters of equal size"},
		{sketch.Cells, study.KMeans, Choice{Usable: true}, Usable, "usable: clusters of equal size"},
	} {
		s := &study.Study{Sketches: []study.Sketch{{Side: c.side}}, Parties: make([]study.Party, 2)}
		f := Analysis{Kind: c.kind, Chosen: c.f}
		(&cell{Options: Options{Study: s, Records: map[string]int64{"": 100}}}).conclude(study.Analysis{Kind: c.kind}, &f)
		if f.Outcome != c.want || !strings.HasPrefix(f.Verdict, c.lead) || !f.Outcome.Forecast() {
			t.Errorf("%+v: %s, %q", c.f, f.Outcome, f.Verdict)
		}
	}
	for kind, want := range map[study.AnalysisKind]Outcome{study.PCA: Uncentred, study.SVM: NotForecast} {
		if a := unplanned(kind); a.Outcome != want || a.Outcome.Forecast() || strings.Contains(a.Verdict, "usable") {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}
