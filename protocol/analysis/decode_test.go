package analysis

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

func sound() Result {
	half := 0.5
	whole := Number{Estimate: &half, StandardError: &half, Low: &half, High: &half}
	return Result{
		Format: ResultFormat, Study: protocol.StudyID{1}.String(), Sketches: make([]Sketch, 1),
		Analyses: []Analysis{
			{Kind: study.Correlation, Features: make([]Feature, 2), Pairs: []Pair{
				{I: 0, J: 1, Number: whole}, {I: 1, J: 1, Number: Number{Undefined: "constant"}},
			}},
			{Kind: study.KMeans, KMeans: &KMeans{Clusters: 2, Sizes: []int{1, 2}}},
			{Kind: study.Covariance, Features: make([]Feature, 1), Repaired: &Repaired{Matrix: [][]float64{{1}}}},
			{Kind: study.GroupDistance, Features: make([]Feature, 2), Shifts: []Pair{{I: 0, J: 1, Number: whole}}},
		},
	}
}

func TestDecodeAcceptsASoundResult(t *testing.T) {
	data, err := json.Marshal(sound())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(data, protocol.StudyID{1}); err != nil {
		t.Error(err)
	}
}

func TestDecodeRefusesWhatDoesNotHangTogether(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Result)
		want   string
	}{
		"format":            {func(r *Result) { r.Format = "other" }, "of format"},
		"study":             {func(r *Result) { r.Study = protocol.StudyID{2}.String() }, "of study"},
		"sketch":            {func(r *Result) { r.Analyses[0].Sketch = 1 }, "sketch 2 of 1"},
		"negative sketch":   {func(r *Result) { r.Analyses[0].Sketch = -1 }, "sketch 0 of 1"},
		"index":             {func(r *Result) { r.Analyses[0].Pairs[0].J = 2 }, "pair (0, 2)"},
		"negative index":    {func(r *Result) { r.Analyses[0].Pairs[0].I = -1 }, "pair (-1, 1)"},
		"order":             {func(r *Result) { r.Analyses[0].Pairs[0].I, r.Analyses[0].Pairs[0].J = 1, 0 }, "pair (1, 0)"},
		"half an interval":  {func(r *Result) { r.Analyses[0].Pairs[0].High = nil }, "neither"},
		"nothing":           {func(r *Result) { r.Analyses[0].Pairs[1].Undefined = "" }, "neither"},
		"rows of a matrix":  {func(r *Result) { r.Analyses[2].Repaired.Matrix = nil }, "0 rows for 1"},
		"a ragged matrix":   {func(r *Result) { r.Analyses[2].Repaired.Matrix = [][]float64{{}} }, "row of 0 entries"},
		"index of a shift":  {func(r *Result) { r.Analyses[3].Shifts[0].J = 2 }, "pair (0, 2)"},
		"sizes of clusters": {func(r *Result) { r.Analyses[1].KMeans.Sizes = nil }, "0 sizes of 2"},
		"answer and reason": {func(r *Result) { r.Analyses[1].Undefined = "why" }, "both an answer and a reason"},
	} {
		r := sound()
		c.change(&r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(data, protocol.StudyID{1}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Decode([]byte("{"), protocol.StudyID{1}); err == nil {
		t.Error("broken JSON was decoded")
	}
}
