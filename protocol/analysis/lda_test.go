package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// labelled is the terms of a study with a label of one of two kinds.
const labelled = `partition: horizontal
records: {id: [patient]}
columns:
  - {name: height, kind: numeric, bounds: [100, 220]}
  - {name: ill, %s, role: label}
  - {name: pulse, kind: numeric, centre: 70, spread: 12}
sketches: [{side: moments%s}]
privacy: %s
analyses: [%s]
`

const (
	binaryLabel      = "kind: binary"
	categoricalLabel = "kind: categorical, values: [well, ill, never seen]"
	questions        = "{kind: lda, ridge: 0}, {kind: regression, target: pulse, on: [height], ridge: 0}, {kind: pca, scale: false}, {kind: regression, target: pulse, on: [height], ridge: 0.5}, {kind: pca}"
)

// sick returns files in which the ill are shorter and have a higher pulse.
func sick(rng *rand.Rand, sizes ...int) files {
	out := files{}
	for i, name := range []string{"north", "south", "west"} {
		var f file
		for row := range sizes[i] {
			tall, ill := rng.NormFloat64(), float64(min(rng.IntN(3), 1))
			f.add(fmt.Sprint(row+1), 165+12*tall-8*ill, ill, 66-3*tall+8*rng.NormFloat64()+11*ill)
		}
		out[name] = f
	}
	return out
}

// fisher returns the discriminant of pooled records: the weights, the means of each class and the
// squared distance.
func fisher(data files) (weights *mat.VecDense, means [2][2]float64, distance, share float64) {
	x, ill, y := pool(data, 0), pool(data, 1), pool(data, 2)
	var counts [2]float64
	for i, k := range ill {
		counts[int(k)]++
		means[int(k)][0] += x[i]
		means[int(k)][1] += y[i]
	}
	for k := range means {
		means[k][0] /= counts[k]
		means[k][1] /= counts[k]
	}
	within, delta := mat.NewSymDense(2, nil), mat.NewVecDense(2, []float64{means[1][0] - means[0][0], means[1][1] - means[0][1]})
	for i, k := range ill {
		d := []float64{x[i] - means[int(k)][0], y[i] - means[int(k)][1]}
		within.SymRankOne(within, 1/float64(len(ill)), mat.NewVecDense(2, d))
	}
	weights = mat.NewVecDense(2, nil)
	if err := weights.SolveVec(within, delta); err != nil {
		panic(err)
	}
	return weights, means, mat.Dot(weights, delta), counts[1] / float64(len(ill))
}

// Without noise, moments answer as the pooled records do, whatever the label's kind.
func TestDiscriminantWithoutNoiseIsPooled(t *testing.T) {
	data := sick(rand.New(rand.NewPCG(3, 1)), 400, 250, 600)
	_, _, _, share := fisher(data)
	for _, kind := range []string{binaryLabel, categoricalLabel} {
		s := parse(t, fmt.Sprintf(labelled, kind, "", noPromise, questions))
		result, _ := ship(t, s, 3, data).run(t)
		l := result.Analyses[0].LDA
		if l == nil {
			t.Fatalf("%s: %s", kind, result.Analyses[0].Undefined)
		}
		if left := len(l.LeftOut); left != 0 && (kind == binaryLabel || left != 1 || l.LeftOut[0] != "never seen") {
			t.Errorf("%s: left out %v", kind, l.LeftOut)
		}
		nearFisher(t, l, data)
		x, y := pool(data, 0), pool(data, 2)
		slope := stat.Covariance(x, y, nil) / stat.Variance(x, nil)
		r := result.Analyses[1].Regression
		near(t, "coefficient", r.Coefficients[0], slope)
		near(t, "intercept", r.Intercept, stat.Mean(y, nil)-slope*stat.Mean(x, nil))
		near(t, "R²", r.RSquared, math.Pow(stat.Correlation(x, y, nil), 2))
		near(t, "ridge", result.Analyses[3].Regression.Coefficients[0], slope/1.5)
		if p := result.Analyses[2].PCA; kind == binaryLabel {
			sum := 0.0
			for _, c := range p.Components {
				sum += c.Eigenvalue
			}
			if want := stat.PopVariance(x, nil) + stat.PopVariance(y, nil) + share*(1-share); math.Abs(sum/want-1) > 0.01 {
				t.Errorf("eigenvalues add up to %v, want %v", sum, want)
			}
		}
		if _, err := json.Marshal(result); err != nil {
			t.Error(err)
		}
	}
}

// Records without a label count for no class: shares are of those with one. With twice the records,
// half of them without a label, answers equal those of the half with one.
func TestMissingLabelsAreOfNoClass(t *testing.T) {
	data := sick(rand.New(rand.NewPCG(3, 5)), 400, 250, 600)
	_, _, _, share := fisher(data)
	more := files{}
	for name, f := range data {
		var twice file
		for row, values := range f.values {
			twice.add(fmt.Sprint(row), values...)
			twice.add(fmt.Sprint(row, "again"), values[0], math.NaN(), values[2])
		}
		more[name] = twice
	}
	terms := strings.Replace(labelled, "id: [patient]", "id: [patient], missing: count", 1)
	for _, kind := range []string{binaryLabel, categoricalLabel} {
		s := parse(t, fmt.Sprintf(terms, kind, "", noPromise, "{kind: lda, ridge: 0}, {kind: mean}, {kind: covariance}"))
		result, _ := ship(t, s, 3, more).run(t)
		l, ill := result.Analyses[0].LDA, 1
		if l == nil {
			t.Fatalf("%s: %s", kind, result.Analyses[0].Undefined)
		}
		if kind == categoricalLabel {
			ill = 2 // listed after the well
		}
		near(t, "mean of the label", result.Analyses[1].Means[ill], share)
		for _, p := range result.Analyses[2].Pairs {
			if p.I == ill && p.J == ill {
				near(t, "variance of the label", p.Number, share*(1-share))
			}
		}
		nearFisher(t, l, data)
	}
}

// nearFisher compares a discriminant with that of pooled records.
func nearFisher(t *testing.T, l *analysis.LDA, data files) {
	t.Helper()
	weights, means, distance, share := fisher(data)
	near(t, "distance", l.Apart[0].Distance, distance)
	near(t, "share", l.Shares[1], share)
	for i := range 2 {
		near(t, "weight", l.Weights[0][i], weights.AtVec(i))
		near(t, "mean of the healthy", l.Means[0][i], means[0][i])
		near(t, "mean of the ill", l.Means[1][i], means[1][i])
	}
}

// near allows for the resolution of the fixed point.
func near(t *testing.T, what string, got analysis.Number, want float64) {
	t.Helper()
	if got.Estimate == nil || math.Abs(*got.Estimate-want) > 0.01*math.Abs(want) {
		t.Errorf("%s: %v %s, want %v", what, got.Estimate, got.Undefined, want)
	}
}

// With noise, intervals contain the pooled records' numbers, a document passes the check that
// receivers make, and a party's predictions are nearly as good as the best.
func TestDiscriminantWithNoise(t *testing.T) {
	data := sick(rand.New(rand.NewPCG(3, 1)), 4000, 2500, 6000)
	s := parse(t, fmt.Sprintf(labelled, binaryLabel, ", clip: 1.5", "{unit: record, mechanism: gaussian, epsilon: 2, delta: 1e-6}", questions))
	result, labels := ship(t, s, 3, data).run(t)
	if labels != nil {
		t.Error("records' labels travel")
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := analysis.Decode(raw, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	l := decoded.Analyses[0].LDA
	if l == nil {
		t.Fatal(decoded.Analyses[0].Undefined)
	}
	weights, means, distance, _ := fisher(data)
	covers(t, "distance", l.Apart[0].Distance, distance)
	for i := range 2 {
		covers(t, "weight", l.Weights[0][i], weights.AtVec(i))
		covers(t, "mean", l.Means[1][i], means[1][i])
	}
	labeller, err := analysis.NewLabeller(s, decoded.Analyses[0])
	if err != nil {
		t.Fatal(err)
	}
	if takes := labeller.Takes(); labeller.Name != "predicted" || len(takes) != 2 || takes[0] != 0 || takes[1] != 2 {
		t.Fatalf("the labeller tells %q by %v", labeller.Name, takes)
	}
	x, ill, y := pool(data, 0), pool(data, 1), pool(data, 2)
	right := 0.0
	for i := range x {
		a, _ := s.Columns[0].Scale.Encode(x[i], s.ReadBits())
		b, _ := s.Columns[2].Scale.Encode(y[i], s.ReadBits())
		if class := labeller.Label([]int64{a, b}); labeller.Text(class) == fmt.Sprint(ill[i]) {
			right += 1 / float64(len(x))
		}
	}
	// Values are normal here: the share of right predictions is as promised, less what noisy scores
	// lose.
	if a := l.Apart[0].Accuracy; right < *a.Low-0.02 || right > *a.High+0.02 || right < 0.7 {
		t.Errorf("%.3f are put right, and %.3f [%.3f, %.3f] was said", right, *a.Estimate, *a.Low, *a.High)
	}
	for name, spoil := range map[string]func(*analysis.LDA){
		"model":  func(l *analysis.LDA) { l.Model = nil },
		"weight": func(l *analysis.LDA) { l.Model[0].Weights = l.Model[0].Weights[:1] },
		"pair":   func(l *analysis.LDA) { l.Apart[0].J = 9 },
		"number": func(l *analysis.LDA) { l.Means[0][0].High = nil },
		"row":    func(l *analysis.LDA) { l.Within[0] = nil },
		"means":  func(l *analysis.LDA) { l.Means[1] = nil },
	} {
		var other analysis.Result
		if err := json.Unmarshal(raw, &other); err != nil {
			t.Fatal(err)
		}
		spoil(other.Analyses[0].LDA)
		bad, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := analysis.Decode(bad, s.ID); err == nil {
			t.Errorf("a document with a wrong %s passes", name)
		}
	}
	// The features may come from elsewhere, too.
	decoded.Analyses[0].Features[0].Column = "shoe size"
	if _, err := analysis.NewLabeller(s, decoded.Analyses[0]); err == nil {
		t.Error("a labeller of a column that is not in the study")
	}
}

// With few records each question says why it has no answer.
func TestDiscriminantThatDrowns(t *testing.T) {
	s := parse(t, fmt.Sprintf(labelled, categoricalLabel, ", clip: 1.5", "{unit: record, mechanism: gaussian, epsilon: 0.1, delta: 1e-6}", questions))
	result, _ := ship(t, s, 3, sick(rand.New(rand.NewPCG(3, 1)), 20, 20, 20)).run(t)
	for i, a := range result.Analyses {
		if i < 2 && a.Undefined == "" {
			t.Errorf("%s is answered from 60 records: %+v", a.Kind, a)
		}
	}
}

// If each party chose its own length, which the study does not say, labels use records unshortened:
// half of them are longer than a typical one.
func TestLabelsOfWholeRecords(t *testing.T) {
	data := sick(rand.New(rand.NewPCG(3, 4)), 4000, 2500, 6000)
	x, y := pool(data, 0), pool(data, 2)
	terms := strings.Replace(labelled, "centre: 70, spread: 12", "centre: 60, spread: 4", 1)
	s := parse(t, fmt.Sprintf(terms, binaryLabel, ", clip: own", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", "{kind: lda, ridge: 0}"))
	result, _ := ship(t, s, 3, data).run(t)
	l := result.Analyses[0].LDA
	if l == nil {
		t.Fatal(result.Analyses[0].Undefined)
	}
	labeller, err := analysis.NewLabeller(s, result.Analyses[0])
	if err != nil {
		t.Fatal(err)
	}
	other, one, p := 0, float64(s.ReadBits().One()), l.Model[0]
	for i := range x {
		a, _ := s.Columns[0].Scale.Encode(x[i], s.ReadBits())
		b, _ := s.Columns[2].Scale.Unlimited().Encode(y[i], s.ReadBits())
		score := p.Bias + p.Weights[0]*(float64(a)/one-0.5) + p.Weights[1]*float64(b)/one
		if told := labeller.Label([]int64{a, b}); (told != 0) != (score > 0) && math.Abs(score) > 0.05 {
			other++
		}
	}
	if other > 0 {
		t.Errorf("%d of %d records are told another class than their scores say", other, len(x))
	}
}

// The length of standardised records does not apply to records as they are encoded: each party
// computed it in its own spreads.
func TestLabelsOfStandardisedRecordsAreWhole(t *testing.T) {
	terms := strings.Replace(labelled, "centre: 70, spread: 12", "bounds: [0, 200]", 1)
	s := parse(t, fmt.Sprintf(terms, binaryLabel, ", clip: 0.5, standardise: own", "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", "{kind: lda, ridge: 0}"))
	model := analysis.Analysis{
		Features: []analysis.Feature{{Column: "height"}, {Column: "pulse"}},
		Sections: analysis.Sections{LDA: &analysis.LDA{Classes: []string{"0", "1"}, Model: []analysis.Plane{{Weights: []float64{1, 1}, Bias: -0.9}}}},
	}
	labeller, err := analysis.NewLabeller(s, model)
	if err != nil {
		t.Fatal(err)
	}
	one := s.ReadBits().One() // half a unit above the middle in both: a score of 0.1
	if told := labeller.Label([]int64{one, one}); told != 1 {
		t.Errorf("a record at its upper bounds is told class %d", told)
	}
}
