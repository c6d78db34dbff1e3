package coverage

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// bits is a vertical study of three parties with eight, eight and seven binary columns, with
// privacy unit record. Each party holds a random part of the people.
type bits struct {
	people  table
	study   *study.Study
	overlap float64
}

// bitOwner returns the owner of a column, as a study file writes it.
func bitOwner(j int) string { return fmt.Sprintf(", owner: %c", 'a'+j/8) }

// drawBits draws n people with bits of given rates that depend on one normal factor.
func drawBits(rng *rand.Rand, n, columns int, least, most float64) table {
	t := table{}
	thresholds, loadings := make([]float64, columns), make([]float64, columns)
	for j := range columns {
		t.names = append(t.names, fmt.Sprintf("bit %d", j))
		rate := least * math.Pow(most/least, rng.Float64())
		thresholds[j] = distuv.UnitNormal.Quantile(1 - rate)
		loadings[j] = (0.3 + 0.5*rng.Float64()) * math.Copysign(1, rng.Float64()-0.3)
	}
	for range n {
		factor, row := rng.NormFloat64(), make([]float64, columns)
		for j, l := range loadings {
			if l*factor+math.Sqrt(1-l*l)*rng.NormFloat64() > thresholds[j] {
				row[j] = 1
			}
		}
		t.values = append(t.values, row)
	}
	return t
}

// newBits returns a study of these people with a sketch and a privacy block.
func newBits(people table, overlap float64, sketch, privacy string) (*bits, error) {
	var columns strings.Builder
	for j, name := range people.names {
		fmt.Fprintf(&columns, "  - {name: %s, kind: binary%s}\n", name, bitOwner(j))
	}
	rest := fmt.Sprintf("sketches: [%s]\nprivacy: %s\nanalyses: [{kind: correlation}, {kind: intersection}]\n", sketch, privacy)
	s, err := parseColumns(study.Vertical, columns.String(), rest)
	return &bits{people, s, overlap}, err
}

// errorsOf accumulates the errors of answers of one kind.
type errorsOf struct {
	squares, relative     float64
	n, covered, undefined int
}

func (e *errorsOf) add(n analysis.Number, truth float64) {
	if n.Estimate == nil {
		e.undefined++
		return
	}
	off := *n.Estimate - truth
	e.n++
	e.squares += off * off
	e.relative += off * off / truth / truth
	if *n.Low <= truth && truth <= *n.High {
		e.covered++
	}
}

func (e *errorsOf) rmse() float64     { return math.Sqrt(e.squares / float64(e.n)) }
func (e *errorsOf) coverage() float64 { return float64(e.covered) / float64(e.n) }

// run plays the study once and adds the errors of correlations between parties, and of
// intersections.
func (v *bits) run(ctx context.Context, n uint64, correlations, intersections *errorsOf) error {
	played := &vertical{people: v.people, study: v.study, overlap: v.overlap}
	answer, known, err := played.play(ctx, n)
	if err != nil {
		return err
	}
	for _, a := range answer.Result.Analyses {
		for _, p := range a.Pairs {
			if a.Kind == study.Correlation && a.Features[p.I].Party == a.Features[p.J].Party {
				continue
			}
			_, truth := known.pair(a, p)
			if a.Kind == study.Correlation {
				correlations.add(p.Number, truth)
			} else {
				intersections.add(p.Number, truth)
			}
		}
	}
	return nil
}

const bitColumns = 23

// layoutOf returns the layout for three parties of eight, eight and seven columns, 40,000 records,
// with a share of the budget of ε = 4. known is what is known of each column.
func layoutOf(t *testing.T, known forecast.Known, share float64) forecast.Layout {
	t.Helper()
	mu, err := dp.MuOf(dp.Budget{Epsilon: 4, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	var holdings []forecast.PartyColumns
	for from := 0; from < bitColumns; from += 8 {
		h := forecast.PartyColumns{Records: 40_000}
		for range min(8, bitColumns-from) {
			h.Columns = append(h.Columns, known)
		}
		holdings = append(holdings, h)
	}
	return forecast.VerticalLayout(holdings, mu*dp.Mu(math.Sqrt(share)))
}

// TestBitsOfThreeParties checks the accuracy of correlations between parties and of intersections,
// at ε = 4: 40,000 records; eight, eight and seven binary columns; the layout of a draft, with a
// twentieth of the budget for own sums. Rates are log-uniform. Without own sums rare columns are
// lost.
func TestBitsOfThreeParties(t *testing.T) {
	if testing.Short() {
		t.Skip("whole studies")
	}
	var lost float64
	for _, test := range []struct {
		least, most      float64
		own              bool
		below            float64 // limit of the error of defined correlations
		lost             float64 // limit of the share of undefined ones, whose variance is below the sketch's noise
		overlap, counted float64 // share of the records that each party holds; limit of the relative error of intersections
	}{
		{least: 0.2, most: 0.8, own: true, below: 0.06, overlap: 1, counted: 0.03},
		{least: 0.01, most: 0.5, own: true, below: 0.12, overlap: 1, counted: 0.03},
		{least: 0.01, most: 0.5, below: 0.2, lost: 0.3, overlap: 1, counted: 0.03},
		{least: 0.2, most: 0.8, own: true, below: 0.07, overlap: 0.85, counted: 0.04},
	} {
		before := lost
		var correlations, intersections errorsOf
		for n := range uint64(3) {
			people := drawBits(rand.New(rand.NewPCG(n, 3)), 40_000, bitColumns, test.least, test.most)
			const budget = "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}"
			layout := layoutOf(t, forecast.KnownBit(), 1)
			standardise := ""
			if test.own {
				standardise = ", standardise: own"
			}
			sketch := fmt.Sprintf("{side: columns, family: sparse, k: %d, s: 1, helpers: {ones: %v}, clip: %.4f%s}", layout.K, layout.Ones, layout.Clip, standardise)
			v, err := newBits(people, test.overlap, sketch, budget)
			if err != nil {
				t.Fatal(err)
			}
			if err := v.run(t.Context(), n, &correlations, &intersections); err != nil {
				t.Fatal(err)
			}
		}
		counted := math.Sqrt(intersections.relative / float64(intersections.n))
		t.Logf("rates %v to %v, held %v, own sums %v: correlations RMSE %.3f, coverage %.3f, %d undefined of %d; intersection %.3f, coverage %.3f", test.least, test.most, test.overlap, test.own,
			correlations.rmse(), correlations.coverage(), correlations.undefined, correlations.undefined+correlations.n, counted, intersections.coverage())
		if e := correlations.rmse(); e > test.below {
			t.Errorf("correlations err by %.3f, want %v", e, test.below)
		}
		if lost = float64(correlations.undefined) / float64(correlations.undefined+correlations.n); lost > test.lost {
			t.Errorf("%d correlations are undefined, a share of %.2f", correlations.undefined, lost)
		}
		if !test.own && lost < 1.5*before {
			t.Errorf("without own sums a share of %.2f is lost, with them %.2f: the test could not tell", lost, before)
		}
		if c := correlations.coverage(); c < 0.92 {
			t.Errorf("correlations are covered in %.3f", c)
		}
		if counted > test.counted {
			t.Errorf("intersections err by %.3f of themselves, want %v", counted, test.counted)
		}
	}
}

// drawNumbers draws n people with numbers of skewed distributions that depend on one normal factor.
// The bounds are wide, as in codebooks: most values lie in a small part of the range.
func drawNumbers(rng *rand.Rand, n, columns int) table {
	t := table{}
	loadings, shapes := make([]float64, columns), make([]float64, columns)
	for j := range columns {
		t.names = append(t.names, fmt.Sprintf("number %d", j))
		loadings[j] = (0.3 + 0.5*rng.Float64()) * math.Copysign(1, rng.Float64()-0.3)
		shapes[j] = 0.6 * rng.Float64()
	}
	for range n {
		factor, row := rng.NormFloat64(), make([]float64, columns)
		for j, l := range loadings {
			x := l*factor + math.Sqrt(1-l*l)*rng.NormFloat64()
			row[j] = math.Min(math.Max(math.Exp(shapes[j]*x)+0.3*x, -2), 30)
		}
		t.values = append(t.values, row)
	}
	return t
}

// TestNumbersWithBoundsStandardised checks that numbers in a small part of their bounds are lost in
// the noise if they are centred on the middle of the bounds, but not if parties standardise them.
func TestNumbersWithBoundsStandardised(t *testing.T) {
	if testing.Short() {
		t.Skip("whole studies")
	}
	var before float64
	for _, own := range []bool{false, true} {
		var correlations, intersections errorsOf
		for n := range uint64(3) {
			people := drawNumbers(rand.New(rand.NewPCG(n, 4)), 40_000, bitColumns)
			var columns strings.Builder
			for j, name := range people.names {
				fmt.Fprintf(&columns, "  - {name: %s, kind: numeric, bounds: [-2, 30]%s}\n", name, bitOwner(j))
			}
			known, standardise, share := forecast.KnownBounds(), "", 1.0
			if own {
				known, standardise, share = forecast.KnownSpread(), ", standardise: own", 0.88
			}
			layout := layoutOf(t, known, share)
			rest := fmt.Sprintf("sketches: [{side: columns, family: sparse, k: %d, s: 1, helpers: {ones: %v}, clip: %v%s}]\n", layout.K, layout.Ones, layout.Clip, standardise) +
				"privacy: {unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}\nanalyses: [{kind: correlation}, {kind: intersection}]\n"
			s, err := parseColumns(study.Vertical, columns.String(), rest)
			if err != nil {
				t.Fatal(err)
			}
			v := &bits{people, s, 1}
			if err := v.run(t.Context(), n, &correlations, &intersections); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("own sums %v: correlations RMSE %.3f, coverage %.3f, %d undefined of %d", own, correlations.rmse(), correlations.coverage(), correlations.undefined, correlations.undefined+correlations.n)
		if lost := float64(correlations.undefined) / float64(correlations.undefined+correlations.n); !own {
			before = lost
		} else if lost > 0 || before < 0.3 || correlations.rmse() > 0.08 {
			t.Errorf("a share of %.2f is lost, without own sums %.2f; correlations err by %.3f", lost, before, correlations.rmse())
		}
		if own && correlations.coverage() < 0.9 {
			t.Errorf("correlations are covered in %.3f", correlations.coverage())
		}
	}
}
