package console

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
)

// A study is useless if all of its analyses have a forecast and none is usable.
func TestVerdict(t *testing.T) {
	usable := plan.Analysis{Kind: study.Mean, Chosen: plan.Choice{Method: "sums", Usable: true}, Outcome: plan.Usable, Verdict: "usable"}
	lost := plan.Analysis{Kind: study.Correlation, Estimator: study.E2, Chosen: plan.Choice{Method: "sums"}, Outcome: plan.TooWide, Verdict: "not usable: it is lost"}
	unknown := plan.Analysis{Kind: study.PCA, Outcome: plan.Uncentred, Verdict: "not planned"}
	s := &study.Study{Name: "trial"}
	for _, c := range []struct {
		of      []plan.Analysis
		useless bool
		says    string
	}{
		{[]plan.Analysis{usable, lost}, false, "1 of 2 analyses are"},
		{[]plan.Analysis{lost, lost}, true, "0 of 2 analyses are"},
		{[]plan.Analysis{lost, unknown}, false, "0 of 2 analyses are"},
		{[]plan.Analysis{}, false, "0 of 0 analyses are"},
	} {
		v := NewVerdict(plan.Plan{Name: "trial", Parties: []plan.Party{{Name: "a", Records: 7}}, Assumptions: []string{"this", "that"}, Sketches: []plan.Sketch{{Analyses: c.of}}})
		if v.Useless != c.useless {
			t.Errorf("%s: useless %v", c.says, v.Useless)
		}
		err := v.Err(s)
		if (err != nil) != c.useless || c.useless && (fail.Find(err).Exit != fail.Failed || !strings.Contains(err.Error(), "study trial")) {
			t.Errorf("%s: error %v", c.says, err)
		}
		var said bytes.Buffer
		v.Tell(&Console{Err: &said, Format: Text})
		for _, want := range []string{c.says, "7 records each", "Assumed:\n- this.\n- that."} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("the verdict lacks %q:\n%s", want, &said)
			}
		}
		if len(c.of) == 2 && c.of[0].Kind == study.Correlation && !strings.Contains(said.String(), "- correlation (E2): not usable: it is lost.") {
			t.Errorf("the verdict lacks its reason:\n%s", &said)
		}
		said.Reset()
		if v.Tell(&Console{Err: &said, Format: JSON}); said.Len() > 0 {
			t.Errorf("programs are told %q", &said)
		}
	}
}
