package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/audit/attack"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Limits of an attack. The slow parts take time cubic in these.
const (
	attackedRecords = 1000    // sampled
	attackedEntries = 1 << 21 // of R
	boxedRecords    = 200     // of the sample, by slow attacks
)

// NothingToAttackError says why there is nothing to attack, or too much.
type NothingToAttackError struct{ Why string }

func (u *NothingToAttackError) Error() string { return u.Why }

func (u *NothingToAttackError) Fail() *fail.Error { return fail.NothingToAttack.Fail() }

// Attack makes a party's release of a study up to the point where the real one debits the ledger,
// under a fresh seed of its own. It attacks it as somebody who knows R could: the aggregator with
// one other party's help. Nothing is debited, stored or sent. A study without noise is attacked in
// the same way.
func Attack(ctx context.Context, o source.Options) (AttackReport, error) {
	h, err := o.Source()
	if err != nil {
		return AttackReport{}, err
	}
	out, err := attackOwn(ctx, h)
	if err != nil {
		return AttackReport{}, fmt.Errorf("attacking the release for study %s: %w", o.Study.ID.Short(), err)
	}
	return out, nil
}

func attackOwn(ctx context.Context, r *source.Source) (AttackReport, error) {
	src, err := r.Open()
	if err != nil {
		return AttackReport{}, err
	}
	root, err := source.FreshSeed(r.Entropy)
	if err != nil {
		return AttackReport{}, err
	}
	defer root.Destroy()
	random, err := freshRandom(r.Entropy)
	if err != nil {
		return AttackReport{}, err
	}
	drawn := &sample{random: random}
	entries := src.Schema.Entries()
	_, err = r.Pass(ctx, src, func(b dataset.Batch) error {
		drawn.take(b, entries)
		return nil
	})
	if err != nil {
		return AttackReport{}, err
	}
	// in the form that an attacker is sure to see
	made, err := job.RehearseSeen(ctx, r.Spec(src, job.Study{}, root), &source.Data{Source: r, From: src}, func(job.Stage) {})
	if err != nil {
		return AttackReport{}, err
	}
	src.Plans = made.Plans // of the second pass, if there was a look
	records := made.Records.Count
	if records < 2 {
		return AttackReport{}, &NothingToAttackError{fmt.Sprintf("data of %d records leave nothing to attack", records)}
	}
	out := AttackReport{
		Study: r.Study.ID.String(), Name: r.Study.Name, Dataset: src.Data.Name, Records: records, Sample: len(drawn.records),
		Promise: src.Plans[0].Statement(), Sketches: []AttackedSketch{},
	}
	all := make([]seen, len(src.Plans))
	for i, plan := range src.Plans {
		own := made.Sketches[i]
		if own.Sketch, _, err = plan.Unpack(own.Sketch); err != nil {
			return AttackReport{}, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		all[i] = seen{plan: plan, root: root, sample: drawn, picks: src.Picks[i], exact: own, ids: made.Records.IDs, random: random, records: records}
		one, err := all[i].attack(ctx, i)
		if err != nil {
			return AttackReport{}, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		out.Sketches = append(out.Sketches, one)
	}
	for _, side := range []sketch.Side{sketch.Columns, sketch.Records} {
		together, err := attackTogether(ctx, side, all)
		if err != nil {
			return AttackReport{}, fmt.Errorf("all sketches of the %s side: %w", side, err)
		}
		if together != nil {
			out.Together = append(out.Together, *together)
		}
	}
	return out, nil
}

// freshRandom returns a random source for choices that protect nothing.
func freshRandom(entropy interface{ Read([]byte) (int, error) }) (*rand.Rand, error) {
	var key [32]byte
	if _, err := entropy.Read(key[:]); err != nil {
		return nil, fmt.Errorf("drawing a sample: %w", err)
	}
	return rand.New(rand.NewChaCha8(key)), nil
}

// sample holds records drawn uniformly at random from all that were read (Vitter 1985, algorithm
// R).
type sample struct {
	random  *rand.Rand
	read    int
	records []sampled
}

type sampled struct {
	id     []byte
	values []int64 // all entries of the schema
}

func (s *sample) take(b dataset.Batch, entries int) {
	for i, id := range b.IDs {
		at := s.read
		s.read++
		into := len(s.records)
		if into == attackedRecords {
			if into = s.random.IntN(at + 1); into >= attackedRecords {
				continue
			}
		} else {
			s.records = append(s.records, sampled{})
		}
		s.records[into] = sampled{slices.Clone(id), slices.Clone(b.Values[i*entries : (i+1)*entries])}
	}
}

// seen is one sketch as an attacker sees it, and the true values.
type seen struct {
	plan    release.Plan
	root    seed.Seed
	sample  *sample
	picks   []int
	exact   release.Exact // with its noise
	ids     [][]byte      // records side: ids of the records, in the order of the data
	random  *rand.Rand
	records int64
}

func (s seen) attack(ctx context.Context, index int) (AttackedSketch, error) {
	noise, err := s.plan.NoiseIn(s.exact.Sketch)
	if err != nil {
		return AttackedSketch{}, err
	}
	out := AttackedSketch{
		Sketch: index + 1, Side: string(s.plan.Sketch().Side), Made: s.plan.Sketch().Method(), Noise: noise.String(), Flags: []string{}, Attacks: []AttackedResult{},
	}
	if !s.plan.Flips.Zero() {
		out.Noise = s.plan.Flips.String()
	}
	if s.plan.Study.Privacy.Mechanism == dp.None {
		e, err := s.plan.Study.Reveals(s.plan.Party, s.plan.Index, int(s.records))
		if err != nil {
			return out, err
		}
		out.Flags = append(out.Flags, e.Flags()...)
	}
	switch side := s.plan.Sketch().Side; {
	case side.Sums():
		out.Attacks, err = s.sums()
	case side == sketch.Records:
		out.Attacks, err = s.recordsSide(ctx)
	default:
		out.Attacks, err = s.columnsSide()
	}
	return out, err
}

// truth returns the sampled records' values, in encoded units.
func (s seen) truth() *mat.Dense {
	out := mat.NewDense(len(s.sample.records), s.plan.Values, nil)
	one := float64(s.plan.Study.Bits.One())
	for i, record := range s.sample.records {
		for j, at := range s.picks[:s.plan.Values] { // a label comes last and is not a value
			out.Set(i, j, float64(s.valueOf(record, j, at))/one)
		}
	}
	return out
}

// valueOf returns a record's value of a feature; a missing one is the public centre.
func (s seen) valueOf(record sampled, feature, at int) int64 {
	if v := record.values[at]; v != sketch.Absent {
		return sketch.Round(v, s.plan.Study.Fine())
	}
	if f := s.plan.Features[feature]; f.Kind == study.Value {
		return s.plan.Study.Columns[f.Column].Scale.Missing(s.plan.Study.Bits)
	}
	return 0
}

// whole reports whether a feature is 0 or 1.
func (s seen) whole(feature int) bool {
	f := s.plan.Features[feature]
	return f.Kind == study.OneHot || s.plan.Study.Columns[f.Column].Kind == study.Binary
}

// near is the error below which a guess of a value counts as right, in encoded units.
const near = 0.05

// Measures of what was recovered.
const (
	ofVariance = "the values' variance"
	ofRecords  = "records with every value right"
	ofLinks    = "records linked"
	ofTen      = "records linked among the ten nearest"
	ofMatrix   = "R"
	ofOthers   = "the variance of all other records' values"
	ofColumns  = "columns told apart (correlation above 0.9)"
)

// attackTogether attacks all noiseless sketches of a side as one: whoever knows their matrices can
// solve the equations of all jointly. It returns nil if there are not several.
func attackTogether(ctx context.Context, side sketch.Side, all []seen) (*AttackedSketch, error) {
	var of []seen
	for _, s := range all {
		if s.plan.Sketch().Side == side && s.plan.Study.Privacy.Mechanism == dp.None {
			of = append(of, s)
		}
	}
	if len(of) < 2 {
		return nil, nil
	}
	out := &AttackedSketch{Side: string(side), Flags: []string{}, Attacks: []AttackedResult{}}
	var err error
	if side == sketch.Records {
		out.Attacks, err = recordsTogether(ctx, of)
	} else {
		out.Attacks, err = columnsTogether(of)
	}
	return out, err
}

// recordsSide attacks rows of sketches.
func (s seen) recordsSide(ctx context.Context) ([]AttackedResult, error) {
	view, err := s.view()
	if err != nil {
		return nil, err
	}
	return s.throughRows(ctx, view)
}

// recordsTogether attacks the rows of several sketches of the same records jointly.
func recordsTogether(ctx context.Context, all []seen) ([]AttackedResult, error) {
	var together attack.View
	for _, s := range all {
		view, err := s.view()
		if err != nil {
			return nil, err
		}
		if together.R == nil {
			together = view
			continue
		}
		var r, y mat.Dense
		r.Augment(together.R, view.R)
		y.Augment(together.Y, view.Y)
		together.R, together.Y = &r, &y
	}
	return all[0].throughRows(ctx, together)
}

// view is what an attacker who knows R sees of the sampled records.
func (s seen) view() (attack.View, error) {
	matrix, err := s.plan.Matrix(s.root, nil)
	if err != nil {
		return attack.View{}, err
	}
	return attack.View{R: matrix, Y: s.rows(matrix), Variance: s.plan.NoiseOf(0, 1, s.records).Variance}, nil
}

// throughRows attacks the sampled records through their rows.
func (s seen) throughRows(ctx context.Context, view attack.View) ([]AttackedResult, error) {
	if d, k := view.R.Dims(); d*k > attackedEntries {
		return nil, &NothingToAttackError{fmt.Sprintf("R has %d × %d entries, at most %d are attacked", d, k, attackedEntries)}
	}
	x := s.truth()
	var out []AttackedResult
	for _, one := range []func(context.Context, attack.View, *mat.Dense) ([]AttackedResult, error){
		s.leastNorm, s.covariance, s.fewValues, s.bounds, s.pairs, s.trilateration, s.components, s.links,
	} {
		found, err := one(ctx, view, x)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// rows returns the sketch rows of the sampled records, in real units.
func (s seen) rows(matrix *mat.Dense) *mat.Dense {
	row := make(map[string]int, s.exact.Sketch.Rows)
	for i, at := range s.exact.Order {
		row[string(s.ids[at])] = i
	}
	// The centres subtracted from the values are public; add them back.
	_, k := matrix.Dims() // a label comes after these and is not a value
	centre := mat.NewVecDense(k, nil)
	centre.MulVec(matrix.T(), mat.NewVecDense(s.plan.Values, s.plan.Centres()))
	out := mat.NewDense(len(s.sample.records), k, nil)
	for i, record := range s.sample.records {
		for j, v := range s.exact.Sketch.Row(row[string(record.id)])[:k] {
			out.Set(i, j, float64(v)*s.plan.Unit()+centre.AtVec(j))
		}
	}
	return out
}

// results computes what share of the variance and how many records the guesses recover.
func (s seen) results(name, knows string, truth, guess *mat.Dense) ([]AttackedResult, error) {
	got, err := attack.Compare(truth, guess, near)
	if err != nil {
		return nil, err
	}
	best, most := 0, math.Inf(-1)
	var sum float64
	for j, r := range got.RSquared {
		sum += max(r, 0)
		if r > most {
			best, most = j, r
		}
	}
	detail := fmt.Sprintf("best of all %q: %.0f %%", s.name(best), 100*max(most, 0))
	columns := make([]AttackedColumn, len(got.RSquared))
	for j, r := range got.RSquared {
		columns[j] = AttackedColumn{s.name(j), r}
	}
	return []AttackedResult{
		{Name: name, Knows: knows, Measure: ofVariance, Value: sum / float64(len(got.RSquared)), Detail: detail, Columns: columns, Errors: errorsOf(truth, guess)},
		{Name: name, Knows: knows, Measure: ofRecords, Value: got.Exact, Baseline: math.Pow(got.Baseline, float64(len(got.RSquared))),
			Detail: fmt.Sprintf("%.0f %% of single values, %.0f %% by guessing each column's most common one", 100*got.Values, 100*got.Baseline)},
	}, nil
}

// errorsOf returns quantiles of the errors of guesses, and of guessing every column's mean.
func errorsOf(truth, guess *mat.Dense) (out []AttackedError) {
	m, d := truth.Dims()
	recovered, guessed := make([]float64, 0, m*d), make([]float64, 0, m*d)
	for j := range d {
		column := mat.Col(nil, j, truth)
		mean := stat.Mean(column, nil)
		for i, x := range column {
			recovered, guessed = append(recovered, math.Abs(x-guess.At(i, j))), append(guessed, math.Abs(x-mean))
		}
	}
	slices.Sort(recovered)
	slices.Sort(guessed)
	const steps = 20
	for i := range steps + 1 {
		share := float64(i) / steps
		out = append(out, AttackedError{share, stat.Quantile(share, stat.Empirical, recovered, nil), stat.Quantile(share, stat.Empirical, guessed, nil)})
	}
	return out
}

func (s seen) name(feature int) string {
	f := s.plan.Features[feature]
	name := s.plan.Study.Columns[f.Column].Title()
	if f.Value != "" {
		name += "=" + f.Value
	}
	return name
}

func (s seen) leastNorm(_ context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	guess, err := view.MinimumNorm()
	if err != nil {
		return nil, err
	}
	return s.results("least norm", "R", x, guess)
}

// covariance attacks with the columns' means and covariances, here computed from the data
// themselves: no attacker can know a better mean and covariance.
func (s seen) covariance(_ context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	m, d := x.Dims()
	known := attack.Knowledge{Mean: make([]float64, d)}
	for j := range d {
		for i := range m {
			known.Mean[j] += x.At(i, j) / float64(m)
		}
	}
	centred := mat.DenseCopyOf(x)
	for i := range m {
		for j := range d {
			centred.Set(i, j, x.At(i, j)-known.Mean[j])
		}
	}
	var c mat.SymDense
	c.SymOuterK(1/float64(m), centred.T())
	known.Covariance = &c
	guess, err := view.Ridge(known)
	if err != nil {
		return nil, err
	}
	return s.results("covariance", "R; the columns' means and covariances", x, guess)
}

// fewValues attacks records that have few ones, by matching pursuit.
func (s seen) fewValues(ctx context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	m, d := x.Dims()
	_, k := view.R.Dims()
	most := 0
	for i := range m {
		ones := 0
		for j := range d {
			if !s.whole(j) {
				return nil, nil
			}
			if x.At(i, j) > 0.5 {
				ones++
			}
		}
		most = max(most, ones)
	}
	if most == 0 || 2*most > k || 4*most > d {
		return nil, nil
	}
	some := min(m, boxedRecords)
	truth := mat.DenseCopyOf(x.Slice(0, some, 0, d))
	guess, err := attack.View{R: view.R, Y: mat.DenseCopyOf(view.Y.Slice(0, some, 0, k)), Variance: view.Variance}.Pursuit(ctx, attack.Sparse{Most: most, Boolean: true})
	if err != nil {
		return nil, err
	}
	return s.results("matching pursuit", fmt.Sprintf("R; that at most %d values of a record are ones", most), truth, guess)
}

// bounds attacks with the published bounds of the columns.
func (s seen) bounds(ctx context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	m, d := x.Dims()
	_, k := view.R.Dims()
	ranges := make([]attack.Range, d)
	for j := range ranges {
		ranges[j] = attack.Range{Low: 0, High: 1, Whole: s.whole(j)}
		if c := s.plan.Study.Columns[s.plan.Features[j].Column]; c.Scale.Range(s.plan.Study.Bits) > s.plan.Study.Bits.One() {
			ranges[j].Low = -1
		}
	}
	some := min(m, boxedRecords)
	truth := mat.DenseCopyOf(x.Slice(0, some, 0, d))
	guess, err := attack.View{R: view.R, Y: mat.DenseCopyOf(view.Y.Slice(0, some, 0, k)), Variance: view.Variance}.Box(ctx, ranges)
	if err != nil {
		return nil, err
	}
	return s.results("bounds", "R; the public bounds of the columns", truth, guess)
}

// pairs recovers R from 1, 2, 4 and so on known records, up to twice the number of columns or the
// size of the sample. The attacker is no party. It then recovers other records with the estimate of
// R.
func (s seen) pairs(_ context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	m, d := x.Dims()
	_, k := view.R.Dims()
	most := knownRecords(m, d)
	if most < 1 {
		return nil, nil
	}
	var found *mat.Dense
	part, before := 0.0, ""
	for t := 1; ; t = min(2*t, most) {
		got, err := attack.KnownPairs(mat.DenseCopyOf(x.Slice(0, t, 0, d)), mat.DenseCopyOf(view.Y.Slice(0, t, 0, k)))
		if err == nil { // known records that are all zero reveal nothing of R
			var off mat.Dense
			off.Sub(got, view.R)
			found, part = got, max(0, 1-math.Pow(mat.Norm(&off, 2)/mat.Norm(view.R, 2), 2))
		}
		if t == most {
			break
		}
		before += fmt.Sprintf(", %.0f %% by %d", 100*part, t)
	}
	if found == nil {
		return nil, nil
	}
	knows := fmt.Sprintf("%d records and their sketches, not R", most)
	out := []AttackedResult{{Name: "known records", Knows: knows, Measure: ofMatrix, Value: part, Detail: strings.TrimPrefix(before, ", ")}}
	others := mat.DenseCopyOf(x.Slice(most, m, 0, d))
	guess, err := attack.View{R: found, Y: mat.DenseCopyOf(view.Y.Slice(most, m, 0, k)), Variance: view.Variance}.MinimumNorm()
	if err != nil {
		return nil, err
	}
	of, err := s.results("known records", knows, others, guess)
	if err != nil {
		return nil, err
	}
	of[0].Measure, of[0].Detail = ofOthers, ""
	return append(out, of[0]), nil
}

// components recovers columns without R, by independent components, if the sketch is not much
// narrower than the data.
func (s seen) components(ctx context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	_, d := x.Dims()
	_, k := view.R.Dims()
	const widest = 128
	if 2*k < d || k > widest {
		return nil, nil
	}
	found, err := attack.Components(ctx, view.Y, s.random)
	if err != nil {
		return nil, err
	}
	matches, err := attack.Matches(x, found)
	if err != nil {
		return nil, err
	}
	clear, best, most := 0, 0, 0.0
	for j, r := range matches {
		if r > 0.9 {
			clear++
		}
		if r > most {
			best, most = j, r
		}
	}
	return []AttackedResult{{Name: "independent components", Knows: "neither R nor a record", Measure: ofColumns,
		Value: float64(clear) / float64(d), Detail: fmt.Sprintf("best %q: correlation %.2f", s.name(best), most)}}, nil
}

// links gives the attacker copies of the records with noise of half a column's standard deviation.
func (s seen) links(ctx context.Context, view attack.View, x *mat.Dense) ([]AttackedResult, error) {
	m, d := x.Dims()
	copies := mat.DenseCopyOf(x)
	for j := range d {
		var mean, square float64
		for i := range m {
			mean += x.At(i, j) / float64(m)
			square += x.At(i, j) * x.At(i, j) / float64(m)
		}
		deviation := math.Sqrt(max(0, square-mean*mean)) / 2
		for i := range m {
			copies.Set(i, j, copies.At(i, j)+deviation*s.random.NormFloat64())
		}
	}
	got, err := view.Link(ctx, copies)
	if err != nil {
		return nil, err
	}
	const knows = "R; copies of the records, each value off by half a standard deviation"
	return []AttackedResult{
		{Name: "linkage", Knows: knows, Measure: ofLinks, Value: got.First, Baseline: got.Chance},
		{Name: "linkage", Knows: knows, Measure: ofTen, Value: got.Ten, Baseline: min(10*got.Chance, 1)},
	}, nil
}
