package errortable

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/testnet/networks"
)

// played returns a network of the embedded data with its dealt data, without answers.
func played(t *testing.T, name string) Played {
	t.Helper()
	found, err := networks.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	id := func(fill byte) string {
		seed := make([]byte, ed25519.SeedSize)
		seed[0] = fill
		peer, err := protocol.PeerIDFromKey(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		return peer.String()
	}
	key, err := hpke.MLKEM768X25519().GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	terms := networks.Terms{
		Nonce: [16]byte{1}, ID: id(200), HPKE: base64.StdEncoding.EncodeToString(key.PublicKey().Bytes()), Address: "/ip4/127.0.0.1/tcp/7424",
		Parties: map[string]string{}, Expires: now.Add(time.Minute), Deadline: now.Add(2 * time.Minute),
	}
	for i, party := range found[0].Parties {
		terms.Parties[party] = id(byte(i + 1))
	}
	source, err := found[0].Study(terms)
	if err != nil {
		t.Fatal(err)
	}
	p := Played{Template: found[0]}
	if p.Study, err = file.Parse(source); err != nil {
		t.Fatal(err)
	}
	pooled, err := networks.Load(found[0].Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Data, err = found[0].Deal(p.Study, pooled, 1); err != nil {
		t.Fatal(err)
	}
	for _, part := range p.Data.Parties {
		p.Result.Parties = append(p.Result.Parties, analysis.Party{Name: part.Name, Records: int64(len(part.Rows))})
	}
	return p
}

func about(x, half float64) analysis.Number {
	low, high := x-half, x+half
	return analysis.Number{Estimate: &x, Low: &low, High: &high}
}

// shared returns the values of two columns for the records that two parties have in common. It
// matches ids, unlike the package.
func shared(t *testing.T, p Played, a, b analysis.Feature) (x, y []float64) {
	t.Helper()
	read := func(f analysis.Feature) map[int]float64 {
		cells, err := p.Data.Pooled.Column(f.Column)
		if err != nil {
			t.Fatal(err)
		}
		out := map[int]float64{}
		for _, part := range p.Data.Parties {
			if part.Name != f.Party {
				continue
			}
			for _, row := range part.Rows {
				if out[row], err = strconv.ParseFloat(cells[row], 64); err != nil {
					t.Fatal(err)
				}
			}
		}
		return out
	}
	first, second := read(a), read(b)
	for row, v := range first {
		if w, ok := second[row]; ok {
			x, y = append(x, v), append(y, w)
		}
	}
	return x, y
}

func make1(t *testing.T, p Played) Table {
	t.Helper()
	out, err := Make(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPairs compares right, wrong and missing answers with the truth.
func TestPairs(t *testing.T) {
	p := played(t, "cancer-vertical-open")
	features := []analysis.Feature{{Party: "north", Column: "mean radius"}, {Party: "south", Column: "radius error"}, {Party: "west", Column: "worst radius"}, {Party: "north", Column: "mean texture"}}
	answer := analysis.Analysis{Kind: study.Correlation, Level: 0.95, Features: features}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		x, y := shared(t, p, features[pair[0]], features[pair[1]])
		answer.Pairs = append(answer.Pairs, analysis.Pair{I: pair[0], J: pair[1], Number: about(stat.Correlation(x, y, nil), 0.01)})
	}
	answer.Pairs = append(answer.Pairs,
		analysis.Pair{I: 0, J: 3, Number: about(0, 0.01)}, // within one party: not counted
		analysis.Pair{I: 1, J: 3, Number: analysis.Number{Undefined: "no shared records"}})
	p.Result.Analyses = []analysis.Analysis{answer}
	right := make1(t, p).Numbers[0]
	if right.Answers != 4 || right.Undefined != 1 || right.Covered != 3 || right.RMSE > 1e-9 || right.Size < 0.5 {
		t.Errorf("right answers: %+v", right)
	}
	// Values lie outside the public bounds, so the terms change the data.
	if right.Terms == 0 || right.ByTerms == 3 && right.Terms > 0.01 {
		t.Errorf("by the terms: %+v", right)
	}
	for i := range answer.Pairs[:3] {
		x := *answer.Pairs[i].Estimate - 0.6
		answer.Pairs[i].Number = about(x, 0.05)
	}
	p.Plan = plan.Plan{Sketches: []plan.Sketch{{Analyses: []plan.Analysis{{Kind: study.Correlation, Best: 0.2, Chosen: plan.Choice{StandardError: 0.5}, Verdict: "usable: barely"}}}}}
	table := make1(t, p)
	if wrong := table.Numbers[0]; wrong.Covered != 0 || math.Abs(wrong.RMSE-0.6) > 1e-9 {
		t.Errorf("wrong answers: %+v", wrong)
	}
	v := table.Verdicts()[0]
	if v.Grade != NoUse || !strings.Contains(v.Said, "as the plan forecast") || !strings.Contains(v.Said, "1 undefined") {
		t.Errorf("verdict %+v", v)
	}
	var text bytes.Buffer
	table.Write(&text)
	if !strings.HasPrefix(text.String(), "  correlation, NO USE: 3 answers err by 0.6") || !strings.Contains(text.String(), "0.2–0.5") {
		t.Errorf("wrote\n%s", text.String())
	}
	if _, err := json.Marshal(table); err != nil {
		t.Error(err)
	}
}

func TestIntersection(t *testing.T) {
	p := played(t, "cancer-vertical-open")
	features := []analysis.Feature{{Party: "north"}, {Party: "south"}}
	x, _ := shared(t, p, analysis.Feature{Party: "north", Column: "mean radius"}, analysis.Feature{Party: "south", Column: "radius error"})
	p.Result.Analyses = []analysis.Analysis{{Kind: study.Intersection, Features: features, Pairs: []analysis.Pair{{I: 0, J: 1, Number: about(1.1*float64(len(x)), 5)}}}}
	if n := make1(t, p).Numbers[0]; math.Abs(n.RMSE-0.1) > 1e-9 || n.Covered != 0 {
		t.Errorf("%+v", n)
	}
}

// TestRegression checks coefficients against gonum's for a single column.
func TestRegression(t *testing.T) {
	p := played(t, "cancer-vertical-open")
	on, target := analysis.Feature{Party: "north", Column: "mean radius"}, analysis.Feature{Party: "west", Column: "worst radius"}
	x, y := shared(t, p, on, target)
	_, slope := stat.LinearRegression(x, y, nil, false)
	r := stat.Correlation(x, y, nil)
	p.Result.Analyses = []analysis.Analysis{{Kind: study.Regression, Features: []analysis.Feature{on}, Sections: analysis.Sections{Regression: &analysis.Regression{
		Target: target, Coefficients: []analysis.Number{about(slope, 0.01)}, RSquared: about(r*r+0.5, 0.1),
	}}}}
	table := make1(t, p)
	if c := table.Numbers[0]; c.RMSE > 1e-9 || c.Covered != 1 || math.Abs(c.Size-r) > 1e-9 {
		t.Errorf("coefficients %+v", c)
	}
	if c := table.Numbers[1]; math.Abs(c.RMSE-0.5) > 1e-9 || c.Covered != 0 {
		t.Errorf("explained share %+v", c)
	}
}

// TestUnion checks means and clusters of a horizontal study.
func TestUnion(t *testing.T) {
	p := played(t, "cancer-horizontal-record")
	x, err := p.Data.Pooled.Numbers("mean radius")
	if err != nil {
		t.Fatal(err)
	}
	malignant, err := p.Data.Pooled.Numbers("malignant")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range p.Data.Parties {
		var own []int
		for _, row := range part.Rows {
			own = append(own, 1-int(malignant[row]))
		}
		p.Labels = append(p.Labels, own)
	}
	mean, sd := stat.MeanStdDev(x, nil)
	p.Clipped = []int64{57, 114}
	p.Result.Analyses = []analysis.Analysis{
		{Kind: study.Mean, Features: []analysis.Feature{{Column: "mean radius"}}, Sections: analysis.Sections{Means: []analysis.Number{about(mean+sd/2, sd/10)}}},
		{Kind: study.KMeans, Sections: analysis.Sections{CellMeans: &analysis.CellMeans{Clusters: 2}}},
		{Kind: study.Correlation, Undefined: "too much noise"},
	}
	table := make1(t, p)
	if n := table.Numbers[0]; math.Abs(n.RMSE-0.5) > 1e-9 || n.Size != 1 || n.Covered != 0 || n.Terms == 0 {
		t.Errorf("mean %+v", n)
	}
	g := table.Groups[0]
	if g.Known == nil || g.Known.Share != 1 || math.Abs(g.Known.Baseline-357./569) > 1e-9 || g.Pooled.Share != g.Ceiling || g.Ceiling < 0.85 {
		t.Errorf("clusters %+v, known %+v", g, g.Known)
	}
	if math.Abs(table.Cut-0.2) > 0.001 {
		t.Errorf("%v of the records are cut", table.Cut)
	}
	verdicts := table.Verdicts()
	if len(verdicts) != 3 || verdicts[2].Grade != NoUse || verdicts[2].Said != "no answer: too much noise" {
		t.Errorf("verdicts %+v", verdicts)
	}
	p.Labels[1] = p.Labels[1][1:]
	if _, err := Make(t.Context(), p); err == nil {
		t.Error("a record has no cluster, and nobody says so")
	}
}

// TestReasons checks the stated reasons of errors.
func TestReasons(t *testing.T) {
	for want, n := range map[string]Numbers{
		"own terms":            {RMSE: 0.5, Terms: 0.4, Forecast: &Forecast{Hardest: 0.5}},
		"as the plan":          {RMSE: 0.5, Terms: 0.1, Forecast: &Forecast{Hardest: 0.3, Verdict: "x"}},
		"cut to it":            {RMSE: 0.5, Terms: 0.1, Forecast: &Forecast{Hardest: 0.01}},
		"plan has no forecast": {RMSE: 0.5},
	} {
		cut := 0.0
		if want == "cut to it" {
			cut = 0.5
		}
		if got := n.reason(cut); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if way(0.9, 0.5, 1) != Good || way(0.75, 0.5, 1) != Rough || way(0.6, 0.5, 1) != NoUse || way(0.5, 0.5, 0.5) != NoUse {
		t.Error("grades")
	}
}
