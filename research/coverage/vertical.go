package coverage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/rehearsal"
)

// vertical is a study of three parties with three columns each. Each party holds a random subset of
// the people.
type vertical struct {
	people  table
	study   *study.Study
	noise   bool
	overlap float64
}

// regressed are the columns of the regression, target first. They belong to all parties.
var regressed = [...]string{"worst texture", "mean radius", "mean smoothness", "radius error", "texture error"}

func newVertical(people table, noise bool, overlap float64) (*vertical, error) {
	sketch, privacy, e1 := "{side: columns, family: rademacher, k: 512, helpers: {ones: 0.3, squares: true}}", "{mechanism: none}", ", {kind: correlation, estimator: E1}"
	if noise {
		sketch, privacy, e1 = "{side: columns, family: sparse, k: 512, helpers: {ones: 0.3}}", "{unit: attribute, mechanism: laplace, epsilon: 8}", ""
	}
	analyses := fmt.Sprintf("{kind: inner-product}, {kind: distance}, {kind: cosine}, {kind: covariance}, {kind: correlation}%s, {kind: intersection},"+
		" {kind: sums}, {kind: pca, scale: false}, {kind: pca}, {kind: regression, target: %s, on: [%s, %s, %s, %s]}",
		e1, regressed[0], regressed[1], regressed[2], regressed[3], regressed[4])
	s, err := parse(study.Vertical, fmt.Sprintf("bits: 14\nsketches: [%s]\nprivacy: %s\nanalyses: [%s]\n", sketch, privacy, analyses), people,
		func(j int) string { return fmt.Sprintf(", owner: %c", 'a'+j/(len(shown)/parties)) })
	return &vertical{people, s, noise, overlap}, err
}

func (v *vertical) condition() Condition {
	return Condition{Sketch: "columns of the same people", Noise: v.noise, Overlap: v.overlap}
}

func (v *vertical) run(ctx context.Context, n uint64, into *ledger) error {
	answer, known, err := v.play(ctx, n)
	if err != nil {
		return err
	}
	for _, a := range answer.Result.Analyses {
		if err := known.compare(a, into); err != nil {
			return fmt.Errorf("%s: %w", a.Kind, err)
		}
	}
	return nil
}

// play plays the study once, with a random subset of the records for each party.
func (v *vertical) play(ctx context.Context, n uint64) (*rehearsal.Answer, held, error) {
	entropy, rng := rehearsal.Source(n, 1), rand.New(rehearsal.Source(n, 2))
	known := held{vertical: v, common: map[string][]int{}}
	var parties []rehearsal.Held
	for p, listed := range v.study.Parties {
		var own []int
		for r := range v.people.values {
			if v.overlap == 1 || rng.Float64() < v.overlap {
				own = append(own, r)
			}
		}
		parties = append(parties, v.people.held(v.study, p, own))
		known.records, known.names = append(known.records, own), append(known.names, listed.Name)
	}
	played, err := rehearsal.New(v.study, parties)
	if err != nil {
		return nil, known, err
	}
	answer, err := played.Draw(ctx, entropy)
	return answer, known, err
}

// held says which party held which records in one study.
type held struct {
	*vertical
	names   []string         // of parties
	records [][]int          // ascending, by party
	common  map[string][]int // cache of shared
}

// Targets, in the words of docs/study.md.
const (
	all       = "all records"
	ownZeros  = "records of either party, one that a party lacks counting as zero there"
	pairwise  = "the records that both parties hold"
	random    = "the records that both parties hold, which are a random part of each party's"
	randomAll = "the records that all parties hold, which are a random part of each party's"
	pushed    = "allows for a quarter of what errors drive eigenvalues apart"
	byChance  = "allows for what coordinates explain by chance"
	kurtosis  = "allows for other records by the greatest kurtosis of all columns"
	smaller   = "ends at the number of records of the smaller party"
)

// at returns the target of a number: target, or all records if all parties hold all.
func (h held) at(target string) string {
	if h.overlap == 1 {
		return all
	}
	return target
}

func (h held) compare(a analysis.Analysis, into *ledger) error {
	switch {
	case a.Undefined != "" && a.Kind == study.Regression: // the columns are collinear within their standard errors
		into.of(h.coefficient()).undefined += len(regressed) - 1
		return nil
	case a.Undefined != "":
		return errors.New(a.Undefined)
	}
	switch {
	case a.PCA != nil:
		return h.components(a, into)
	case a.Regression != nil:
		return h.regression(a, into)
	case a.Sums != nil:
		return h.sums(a, into)
	}
	for _, p := range a.Pairs {
		what, truth := h.pair(a, p)
		into.add(what, p.Number, truth)
	}
	return nil
}

// place returns the party and column of a feature; the column is -1 if the feature is a party.
func (h held) place(f analysis.Feature) (party, column int) {
	return slices.Index(h.names, f.Party), slices.Index(h.people.names, f.Column)
}

// shared returns the records that all of the given parties hold.
func (h held) shared(of ...int) (out []int) {
	key := fmt.Sprint(of)
	if known, ok := h.common[key]; ok {
		return known
	}
	out = h.records[of[0]]
	for _, p := range of[1:] {
		out = slices.DeleteFunc(slices.Clone(out), func(r int) bool {
			_, both := slices.BinarySearch(h.records[p], r)
			return !both
		})
	}
	h.common[key] = out
	return out
}

// values returns the values of a column in some records.
func (h held) values(column int, of []int) []float64 {
	out := make([]float64, len(of))
	for i, r := range of {
		out[i] = h.people.values[r][column]
	}
	return out
}

// pair returns the kind of a pair's number, and its true value.
func (h held) pair(a analysis.Analysis, p analysis.Pair) (number, float64) {
	i, x := h.place(a.Features[p.I])
	j, y := h.place(a.Features[p.J])
	both := h.shared(i, j)
	if a.Kind == study.Intersection {
		return number{string(a.Kind), h.at(pairwise), smaller}, float64(len(both))
	}
	xs, ys := h.values(x, both), h.values(y, both)
	product := dot(xs, ys)
	own := func(party, column int) float64 {
		v := h.values(column, h.records[party])
		return dot(v, v)
	}
	switch a.Kind {
	case study.InnerProduct:
		if p.I == p.J {
			return number{"squared norm", h.at("its party's records"), ""}, product
		}
		return number{"inner product", h.at(pairwise), ""}, product
	case study.Distance:
		return number{"distance of columns", h.at(ownZeros), ""}, own(i, x) + own(j, y) - 2*product
	case study.Cosine:
		return number{"cosine", h.at(ownZeros), ""}, product / math.Sqrt(own(i, x)*own(j, y))
	case study.Covariance:
		n := float64(len(both))
		what := number{"covariance", h.at(pairwise), ""}
		if p.I == p.J {
			what.name = "variance"
		}
		return what, (n - 1) / n * stat.Covariance(xs, ys, nil)
	}
	what := number{"correlation " + string(a.Estimator), h.at(random), ""}
	if a.Estimator == study.E1 {
		what.target = h.at(pairwise)
	}
	return what, stat.Correlation(xs, ys, nil)
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func (h held) sums(a analysis.Analysis, into *ledger) error {
	for _, row := range a.Sums.Rows {
		party, column := h.place(a.Features[row.Feature])
		other := slices.Index(h.names, row.Over)
		if other < 0 {
			return fmt.Errorf("a sum over %q", row.Over)
		}
		both := h.values(column, h.shared(party, other))
		into.add(number{"sum", h.at(pairwise), ""}, row.Sum, stat.Mean(both, nil)*float64(len(both)))
		into.add(number{"mean", h.at(pairwise), ""}, row.Mean, stat.Mean(both, nil))
	}
	return nil
}

// pooled returns the features of the records that all parties hold.
func (h held) pooled(features []analysis.Feature) *mat.Dense {
	together := h.shared(0, 1, 2)
	out := mat.NewDense(len(together), len(features), nil)
	for j, f := range features {
		_, column := h.place(f)
		out.SetCol(j, h.values(column, together))
	}
	return out
}

func (h held) components(a analysis.Analysis, into *ledger) error {
	data := h.pooled(a.Features)
	n, _ := data.Dims()
	var c mat.SymDense
	stat.CovarianceMatrix(&c, data, nil)
	name := "of covariances"
	if a.PCA.Scaled {
		stat.CorrelationMatrix(&c, data, nil)
		name = "of correlations"
	} else {
		c.ScaleSym(float64(n-1)/float64(n), &c)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(&c, true) {
		return errors.New("the pooled data have no components")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	for i, found := range a.PCA.Components {
		at := len(values) - 1 - i
		into.add(number{"eigenvalue " + name, h.at(randomAll), pushed}, found.Interval, values[at])
		into.add(number{"explained share " + name, h.at(randomAll), pushed}, found.Share, values[at]/mat.Trace(&c))
		if len(found.LoadingIntervals) == 0 {
			continue
		}
		sign := math.Copysign(1, dot(found.Loadings, mat.Col(nil, at, &vectors)))
		for j, l := range found.LoadingIntervals {
			into.add(number{"loading " + name, h.at(randomAll), h.sampled("")}, l, sign*vectors.At(j, at))
		}
	}
	return nil
}

// sampled returns why an interval over the records that all parties hold is conservative.
func (h held) sampled(otherwise string) string {
	if h.overlap == 1 {
		return otherwise
	}
	return kurtosis
}

func (h held) coefficient() number {
	return number{"coefficient", h.at(randomAll), h.sampled("")}
}

func (h held) regression(a analysis.Analysis, into *ledger) error {
	r := a.Regression
	data := h.pooled(append([]analysis.Feature{r.Target}, a.Features...))
	n, columns := data.Dims()
	design, y := mat.DenseCopyOf(data), mat.NewVecDense(n, mat.Col(nil, 0, data))
	for i := range n {
		design.Set(i, 0, 1)
	}
	var beta, rest mat.VecDense
	if err := beta.SolveVec(design, y); err != nil {
		return err
	}
	rest.MulVec(design, &beta)
	rest.SubVec(y, &rest)
	left := mat.Dot(&rest, &rest) / float64(n)
	total := stat.Variance(mat.Col(nil, 0, data), nil) * float64(n-1) / float64(n)
	target := h.at(randomAll)
	for j := range columns - 1 {
		into.add(h.coefficient(), r.Coefficients[j], beta.AtVec(j+1))
	}
	into.add(number{"intercept", target, h.sampled("")}, r.Intercept, beta.AtVec(0))
	into.add(number{"R²", target, byChance}, r.RSquared, 1-left/total)
	into.add(number{"residual", target, byChance}, r.Residual, math.Sqrt(left))
	return nil
}
