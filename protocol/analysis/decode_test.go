package analysis

import (
	"encoding/json"
	"runtime"
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
			{Kind: study.KMeans, Sections: Sections{KMeans: &KMeans{Clusters: 2, Sizes: []int{1, 2}}}},
			{Kind: study.Covariance, Features: make([]Feature, 1), Repaired: &Repaired{Matrix: [][]float64{{1}}}},
			{Kind: study.GroupDistance, Features: make([]Feature, 2), Shifts: []Pair{{I: 0, J: 1, Number: whole}}},
			{Kind: study.PCA, Features: make([]Feature, 1), Sections: Sections{PCA: &PCA{Components: []Component{{Interval: whole, Share: whole, Loadings: []float64{1}, LoadingIntervals: []Number{whole}}}}}},
			{Kind: study.Regression, Features: make([]Feature, 1), Sections: Sections{Regression: &Regression{
				Coefficients: []Number{whole}, Intercept: whole, RSquared: whole, Residual: whole, Condition: whole,
			}}},
			{Kind: study.Clustering, Features: make([]Feature, 3), Sections: Sections{Hierarchy: &Hierarchy{Merges: []Merge{{A: 0, B: 1}, {A: 2, B: 3}}, Leaves: []int{2, 0, 1}}}},
			{Kind: study.Sums, Features: make([]Feature, 1), Sections: Sections{Sums: &Sums{Rows: []SumRow{{Sum: whole, Mean: whole}}}}},
			{Kind: study.Neighbors, Features: make([]Feature, 1), Sections: Sections{Neighbors: &Neighbors{Neighbors: 1, Reliability: .8, Edges: [][]int{{3}}}}},
			{Kind: study.Outliers, Features: make([]Feature, 1), Sections: Sections{Outliers: &Outliers{Neighbors: 1, Above: []int{1}, Ranked: []int{1}}}},
			{Kind: study.KMeans, Sections: Sections{KMeans: &KMeans{Clusters: 1, Sizes: []int{1}, Debiased: &whole, Suggested: &Suggested{Most: 3, Undefined: "few", Index: []float64{0, 1}}}}},
			{Kind: study.RecordDistance, Features: []Feature{{Party: "a/0"}, {Party: "b/2"}, {Party: "b"}}, Sections: Sections{RecordDistances: &RecordDistances{Records: []ChosenRecord{{"a", 0}, {"b", 2}}}}},
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
		"format":            {func(r *Result) { r.Format = "other" }, "the aggregator disagrees with this program on the version: format of the document \"other\" against \"cosketch/result/1\""},
		"study":             {func(r *Result) { r.Study = protocol.StudyID{2}.String() }, "of study"},
		"no kind":           {func(r *Result) { r.Analyses[0].Kind = "" }, "of a kind \"\""},
		"a path as a kind":  {func(r *Result) { r.Analyses[0].Kind = "x/../../../tmp/x" }, "of a kind \"x/../"},
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
		"components":        {func(r *Result) { r.Analyses[4].Features = nil }, "1 components of 0"},
		"half a loading":    {func(r *Result) { r.Analyses[4].PCA.Components[0].LoadingIntervals = nil }, "1 loadings with 0"},
		"no eigenvalue":     {func(r *Result) { r.Analyses[4].PCA.Components[0].Interval.High = nil }, "neither"},
		"coefficients":      {func(r *Result) { r.Analyses[5].Regression.Coefficients = nil }, "0 coefficients of 1"},
		"no intercept":      {func(r *Result) { r.Analyses[5].Regression.Intercept = Number{} }, "neither"},
		"merges":            {func(r *Result) { r.Analyses[6].Hierarchy.Merges = nil }, "0 merges"},
		"a later merge":     {func(r *Result) { r.Analyses[6].Hierarchy.Merges[0].B = 3 }, "merge 1 of clusters 0 and 3"},
		"leaves":            {func(r *Result) { r.Analyses[6].Hierarchy.Leaves[0] = 1 }, "leaves that are not"},
		"feature of a sum":  {func(r *Result) { r.Analyses[7].Sums.Rows[0].Feature = 1 }, "feature 1 of 1"},
		"no mean":           {func(r *Result) { r.Analyses[7].Sums.Rows[0].Mean = Number{} }, "neither"},
		"clusters tried":    {func(r *Result) { r.Analyses[10].KMeans.Suggested.Undefined = "" }, "neither a number of clusters"},
		"index of clusters": {func(r *Result) { r.Analyses[10].KMeans.Suggested.Most = 2 }, "an index of 2"},
		"half an inertia":   {func(r *Result) { r.Analyses[10].KMeans.Debiased.Low = nil }, "the inertia"},
		"parties of edges":  {func(r *Result) { r.Analyses[8].Features = nil }, "edges of 1 parties of 0"},
		"ragged edges":      {func(r *Result) { r.Analyses[8].Neighbors.Edges[0] = nil }, "edges to 0 parties"},
		"negative edges":    {func(r *Result) { r.Analyses[8].Neighbors.Edges[0][0] = -1 }, "-1 edges"},
		"share of edges":    {func(r *Result) { r.Analyses[8].Neighbors.Across = 2 }, "shares of 2"},
		"no neighbours":     {func(r *Result) { r.Analyses[8].Neighbors.Neighbors = 0 }, "0 neighbours"},
		"outliers' parties": {func(r *Result) { r.Analyses[9].Outliers.Ranked = nil }, "at 1 and 0 parties"},
		"negative outliers": {func(r *Result) { r.Analyses[9].Outliers.Above[0] = -1 }, "-1 outliers"},
		"chosen records":    {func(r *Result) { r.Analyses[11].Features = r.Analyses[11].Features[:1] }, "2 records among 1 features"},
		"a chosen record":   {func(r *Result) { r.Analyses[11].RecordDistances.Records[1].Row = 3 }, "record 2 is \"b/2\" and row 3"},
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

func TestDecodeLabels(t *testing.T) {
	id := protocol.StudyID{1}
	sound := func() Labels {
		return Labels{Format: LabelsFormat, Study: id.String(), Columns: []RowColumn{
			{Name: "cluster", Integers: []int{1, 2}}, {Name: "neighbor_1", Texts: []string{"south:00", ""}, Own: []int{-1, 0}},
		}}
	}
	for want, change := range map[string]func(*Labels){
		"":               func(*Labels) {},
		"disagrees":      func(l *Labels) { l.Format = "other" },
		"of study":       func(l *Labels) { l.Study = "x" },
		"several values": func(l *Labels) { l.Columns[0].Numbers = []float64{1, 2} },
		"names row 2":    func(l *Labels) { l.Columns[1].Own[0] = 2 },
		"names row -2":   func(l *Labels) { l.Columns[1].Own[0] = -2 },
		"\"neighbor_1\"": func(l *Labels) { l.Columns[1].Own = []int{1} },
	} {
		l := sound()
		change(&l)
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeLabels(data, id); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := DecodeLabels([]byte("{"), id); err == nil {
		t.Error("broken JSON was decoded")
	}
}

// A small document that would take much memory is refused before it is decoded.
func TestDecodeBoundsMemory(t *testing.T) {
	for _, many := range []string{
		`"analyses":[` + strings.Repeat(`{},`, 1<<14) + `{}]`,
		`"analyses":[{"pairs":[` + strings.Repeat(`{},`, 1<<20) + `{}]}]`,
		`"analyses":[{"pca":{"components":[{"loadings":[` + strings.Repeat(`0,`, 1<<24+1) + `0]}]}}]`,
		`"name":"\"` + strings.Repeat(" ", MaxDocument) + `"`,
	} {
		var before, after runtime.MemStats
		data := []byte(`{` + many + `}`)
		runtime.ReadMemStats(&before)
		_, err := Decode(data, protocol.StudyID{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "a document of") || after.TotalAlloc-before.TotalAlloc > 1<<16 {
			t.Errorf("%.40s…: %d bytes were allocated (%v)", data, after.TotalAlloc-before.TotalAlloc, err)
		}
	}
	if _, err := Decode([]byte(`{"name": "`+strings.Repeat(`[{,\"`, 1<<18)+`"}`), protocol.StudyID{}); err == nil || strings.Contains(err.Error(), "a document of") {
		t.Errorf("a long name: %v", err)
	}
}
