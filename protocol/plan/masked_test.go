package plan

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

func planOfThree(t *testing.T, terms string) Plan {
	t.Helper()
	p, err := Make(Options{Study: parseOf(t, terms, ""), Party: study.Everyone, Records: map[string]int64{"": 20_000}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// With three parties, one of which may collude, a masked sum has 3/2 of the noise that one party
// needs, and a plain one has 3. If only noise matters, the forecast error is √2 times smaller. The
// masked sum is recommended until the study has it.
func TestMaskedSumsAreForecast(t *testing.T) {
	terms := horizontal(12, bothSides, perRecordGaussian)
	plain, masked := planOfThree(t, terms), planOfThree(t, terms+"sum: masked\ncolluding: 1\n")
	chosen := func(p Plan) Choice { return p.Sketches[1].Analyses[0].Chosen }
	if ratio := chosen(plain).StandardError / chosen(masked).StandardError; math.Abs(ratio-math.Sqrt2) > 0.02 {
		t.Errorf("a plain sum errs %.3f times as far as a masked one, want √2", ratio)
	}
	recommended := func(p Plan) bool {
		return slices.ContainsFunc(p.Instead, func(w Warning) bool {
			return slices.Contains(w.Change, "sum: masked") && strings.Contains(w.Text, "at most one party colludes")
		})
	}
	if !recommended(plain) || recommended(masked) {
		t.Errorf("recommended: %v; and where it is taken: %v", recommended(plain), recommended(masked))
	}
	for i, s := range masked.Sketches {
		if s.Bytes <= plain.Sketches[i].Bytes || s.Bytes%8 != 0 {
			t.Errorf("sketch %d ships %d bytes, and masked %d", i+1, plain.Sketches[i].Bytes, s.Bytes)
		}
	}
	if !slices.ContainsFunc(masked.Assumptions, func(a string) bool { return strings.Contains(a, "to the end") }) {
		t.Errorf("assumed: %q", masked.Assumptions)
	}
}

// A look under masks finds the clip that parties of a plain sum each find for themselves, and that
// is unknown in one round. Its answers are usable if those of one round are, at half the noise
// variance of a plain sum.
func TestLooksAreForecast(t *testing.T) {
	terms := func(sketches string) string {
		return strings.Replace(strings.ReplaceAll(horizontal(12, sketches, perRecordGaussian), "bounds: [0, 1]", "centre: 0, spread: 1"), "{kind: k-means, clusters: 2}", "{kind: correlation}", 1)
	}
	const masked = "sum: masked\ncolluding: 1\n"
	plain := planOfThree(t, terms("{side: moments, clip: own}"))
	looks := planOfThree(t, terms("{side: look, share: 0.06}, {side: moments, clip: own, share: 0.94}")+masked+"rounds: 2\n")
	a, b := plain.Sketches[0].Analyses[0], looks.Sketches[1].Analyses[0]
	// Less noise requires a longer clip, and reveals more of a tail.
	if ratio := a.Chosen.StandardError / b.Chosen.StandardError; ratio < 1.15 || ratio > math.Sqrt2+0.02 {
		t.Errorf("a plain sum errs %.3f times as far as a masked one by a look, want about √2", ratio)
	}
	if !strings.HasPrefix(b.Verdict, "usable") || !strings.HasPrefix(a.Verdict, "usable") || len(looks.Sketches[0].Analyses) > 0 {
		t.Errorf("by a look it is %v, and plain %v; asked of the look itself: %v", b.Verdict, a.Verdict, looks.Sketches[0].Analyses)
	}
}

// No masked sum is recommended if the study could not have one.
func TestMaskedSumsNeedTheirStudy(t *testing.T) {
	s := func(change func(*study.Study)) *study.Study {
		out := study.Study{
			Parties: make([]study.Party, 3), Partition: study.Horizontal, Sketches: []study.Sketch{{Side: "moments"}},
			Privacy: study.Privacy{Mechanism: "gaussian"},
		}
		change(&out)
		return &out
	}
	for name, c := range map[string]struct {
		change func(*study.Study)
		want   bool
	}{
		"as it is":      {func(*study.Study) {}, true},
		"two parties":   {func(s *study.Study) { s.Parties = s.Parties[:2] }, false},
		"late parties":  {func(s *study.Study) { s.LateUntil = 1 }, false},
		"laplace":       {func(s *study.Study) { s.Privacy.Mechanism = "laplace" }, false},
		"rows":          {func(s *study.Study) { s.Sketches[0].Side = "records" }, false},
		"vertical":      {func(s *study.Study) { s.Partition, s.Sketches[0].Side = study.Vertical, "columns" }, false},
		"own clips":     {func(s *study.Study) { s.Sketches[0].OwnClip = true }, false},
		"own scales":    {func(s *study.Study) { s.Sketches[0].Standardise = true }, false},
		"masked so far": {func(s *study.Study) { s.Sum = study.SumMasked }, false},
	} {
		if got := maskable(s(c.change)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
