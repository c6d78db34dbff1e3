package defaults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/stream"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// Settings of the studies in Rounds: three parties, and terms like the planner's.
const (
	roundsBits    = fixedpoint.Bits(11)
	roundsParties = 3
	firstShare    = .3 // share of μ² for the moments in the first of two rounds
	sumWeight     = 3
)

// roundsRow sums the studies of a set at one budget: by a curator, in one round, and in two. Ratios
// divide the records' inertia by that of k-means on the encoded records.
type roundsRow struct {
	epsilon                     dp.Epsilon
	masked                      bool
	answers, ratio, sizes, held [3]float64
	codes, axes                 float64
}

// roundsSet is a data set and the number of clusters to find.
type roundsSet struct {
	data     *data
	clusters int
}

func roundsSets(folder *corpus.Corpus) ([]roundsSet, error) {
	sets, err := load(folder)
	if err != nil {
		return nil, err
	}
	out := []roundsSet{
		{mixture("5 clusters", 30_000, 20, 5, 1).fixed(), 5},
		{mixture("8 weak clusters", 20_000, 16, 8, 0.4).fixed(), 8},
		{skewed(20_000, 0.8, 0).fixed(), 4},
		{mixture("3 in 4 columns", 20_000, 4, 3, 0.6).fixed(), 3},
		{mixture("5 in 3 columns", 3000, 3, 5, 0.8).fixed(), 5},
		{sets.cancer, 2},
	}
	if folder != nil {
		out = append(out, roundsSet{sets.adult, 4}, roundsSet{sets.diabetes, 5}, roundsSet{sets.heart, 2}, roundsSet{sets.retail, 3})
	}
	return out, nil
}

// Rounds compares k-means in one round, by cells of random directions, with k-means in two rounds,
// by cells of a codebook made from the first round's moments, and with a curator's DP-Lloyd. It
// writes a Markdown table of the sets whose names contain only. Each row averages seeds studies
// with different declared scales, directions and noise. Without a folder its sets are left out.
func Rounds(ctx context.Context, folder *corpus.Corpus, only string, seeds int, w io.Writer) error {
	sets, err := roundsSets(folder)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| data (K) | records | ε | noise | DP-Lloyd | one round | two rounds | two ÷ DP-Lloyd | codes, axes | sizes covered: one, two |")
	fmt.Fprintln(w, "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|")
	for _, set := range sets {
		if !strings.Contains(set.data.name, only) {
			continue
		}
		rows, err := set.measure(ctx, seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", set.data.name, err)
		}
		for _, r := range rows {
			noise, mean := "plain", func(i int) float64 { return r.ratio[i] / r.answers[i] }
			if r.masked {
				noise = "masked"
			}
			fmt.Fprintf(w, "| %s (%d) | %d | %g | %s | %.3f | %s | %s | %.3f | %.0f, %.1f | %.3f, %.3f |\n", set.data.name, set.clusters, len(set.data.rows), float64(r.epsilon), noise,
				mean(0), r.text(1, seeds), r.text(2, seeds), mean(2)/mean(0), r.codes/r.answers[2], r.axes/r.answers[2], r.held[1]/r.sizes[1], r.held[2]/r.sizes[2])
		}
	}
	return nil
}

// text formats a ratio, with the number of studies in which too few cells stood out.
func (r roundsRow) text(i, seeds int) string {
	out := fmt.Sprintf("%.3f", r.ratio[i]/r.answers[i])
	if lost := seeds - int(r.answers[i]); lost > 0 {
		out += fmt.Sprintf(" [%d]", lost)
	}
	return out
}

// encoded holds the records of one study, as integers around their public centres.
type encoded struct {
	x       []int64
	d, n    int
	typical float64 // squared length of a typical record
	longest float64 // squared length of the longest record
	points  *mat.Dense
	mu      dp.Mu
	parties float64 // variance of the noise in a sum, in units of one party's
	rng     *rand.Rand
}

// encode declares centres within .3 spreads of the means, and spreads within 22 %. Missing values
// are at the centre.
func (s roundsSet) encode(rng *rand.Rand) *encoded {
	known, one := s.data.truth(), roundsBits.One()
	e := &encoded{d: len(known.features), n: len(s.data.rows), rng: rng}
	e.x, e.points = make([]int64, e.n*e.d), mat.NewDense(e.n, e.d, nil)
	for j, f := range known.features {
		centre, unit, most := known.means[j]+.3*(2*rng.Float64()-1)*known.sds[j], 3*known.sds[j]*(.78+.44*rng.Float64())/float64(one), float64(one)
		typical := float64(one) / 3
		if s.data.columns[f.column].kind != study.Numeric {
			centre, unit, most, typical = .5, 1/float64(one), float64(one)/2, float64(one)/2
		}
		e.typical, e.longest = e.typical+typical*typical, e.longest+most*most
		for i, row := range s.data.rows {
			v := s.data.entry(row, f)
			if math.IsNaN(v) {
				v = centre
			}
			v = max(-most, min(math.Round((v-centre)/unit), most))
			e.x[i*e.d+j] = int64(v)
			e.points.Set(i, j, v)
		}
	}
	return e
}

// clip returns the clip of the rule in steps, shortened by less lengths of a typical record.
func (e *encoded) clip(less float64) int64 {
	nu := math.Sqrt(25+sumWeight*sumWeight) / sumWeight * math.Sqrt(float64(e.d)) * math.Sqrt(e.parties) / (float64(e.mu) * float64(e.n))
	m := max(forecast.ClipRule(e.d, nu)-less, 1)
	return int64(min(m*math.Sqrt(e.typical), math.Sqrt(e.longest), dp.MaxMomentClip))
}

func (e *encoded) sums(clip int64) sketch.SumsOptions {
	return sketch.SumsOptions{Centre: make([]int64, e.d), Largest: roundsBits.One(), Clip: clip}
}

// noised adds the noise of all parties for a share of the budget, and returns its variance.
func (e *encoded) noised(s sketch.Sketch, of dp.Sensitivity, share float64) (sketch.Sketch, float64) {
	sd := math.Sqrt(float64(of.L2Squared)*e.parties) / (float64(e.mu) * math.Sqrt(share))
	out := s
	out.Data = make([]int64, len(s.Data))
	for i, v := range s.Data {
		out.Data[i] = v + int64(math.Round(sd*e.rng.NormFloat64()))
	}
	return out, sd * sd
}

// moments returns the estimates of a first release, and the variance of the noise on a covariance.
func (e *encoded) moments(share float64) (*estimate.Summed, float64, error) {
	clip, layout := e.clip(0), sketch.MomentLayout{Columns: e.d, Products: true}
	weights, err := dp.NewMomentWeights(clip, dp.MomentParts{Products: true, SumWeight: sumWeight})
	if err != nil {
		return nil, 0, err
	}
	b, err := sketch.NewMoments(sketch.MomentsOptions{SumsOptions: sketch.SumsOptions{Centre: make([]int64, e.d), Largest: roundsBits.One(), Limit: int64(e.n)}, Layout: layout, Clips: []int64{clip}, Weights: []dp.MomentWeights{weights}, One: roundsBits.One()})
	if err != nil {
		return nil, 0, err
	}
	sensitivity, err := dp.RecordMoments(clip, e.d, layout.Affected(), weights, dp.Zeroed)
	if err = errors.Join(err, b.Add(e.x, nil)); err != nil {
		return nil, 0, err
	}
	row, variance := e.noised(b.Sketch(), sensitivity, share)
	factors := layout.Factors(weights)
	at := func(i int) float64 { return float64(row.Data[i]) / float64(factors[i]) }
	noise := func(i int) float64 { return variance / float64(factors[i]) / float64(factors[i]) }
	of := estimate.SummedOf{Records: int64(e.n), Noise: estimate.MomentNoise{Square: noise(layout.Product(0, 0)), Product: variance / float64(weights.Product*weights.Product), Sum: noise(layout.Sum(0))}}
	second := mat.NewSymDense(e.d, nil)
	for i := range e.d {
		for j := range i + 1 {
			second.SetSym(i, j, at(layout.Product(i, j)))
		}
		of.Sums = append(of.Sums, at(layout.Sum(i)))
	}
	of.Second = second
	out, err := estimate.NewSummed(of)
	return out, of.Noise.Product / float64(e.n*e.n), err
}

// roundsAnswer is a k-means model, and how many of its sizes hold the truth.
type roundsAnswer struct {
	model       *mat.Dense
	held, sizes int
	codes, axes int
}

// one plays one round: moments, and cells of random directions.
func (e *encoded) one(ctx context.Context, clusters int) (*roundsAnswer, error) {
	choice := forecast.CellTerms{Columns: e.d, Clusters: clusters, Mu: e.mu, Parties: e.parties, Records: float64(e.n)}.Choose()
	share := float64(choice.Moments) / float64(choice.Moments+choice.Cells)
	m, _, err := e.moments(share)
	if err != nil {
		return nil, err
	}
	labels := make([][]byte, e.d)
	for j := range labels {
		labels[j] = []byte{byte(j), byte(j >> 8)}
	}
	directions, err := projection.FixHadamard(projection.Spec{Family: projection.Hadamard, K: choice.Directions}, e.source(), e.source(), labels)
	if err != nil {
		return nil, err
	}
	clip := e.clip(.4)
	w := dp.NewCellWeights(clip, true)
	b, err := sketch.NewCells(directions, w, e.sums(clip))
	if err != nil {
		return nil, err
	}
	sensitivity, err := dp.RecordCells(clip, e.d, w, dp.Zeroed)
	if err = errors.Join(err, b.Add(e.x)); err != nil {
		return nil, err
	}
	sums, variance := e.noised(b.Sketch(), sensitivity, 1-share)
	near, err := decompose.Semidefinite(ctx, m.Covariances())
	_, axes, err2 := decompose.Principal(ctx, m.Covariances(), choice.Subspace)
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	h, products, unit := mat.NewDense(e.d, choice.Directions, nil), make([]int64, e.d*choice.Directions), make([]int64, e.d*e.d)
	for j := range e.d {
		unit[j*e.d+j] = 1
	}
	directions.Project(products, unit)
	for i, v := range products {
		h.Set(i/choice.Directions, i%choice.Directions, float64(v))
	}
	weight := float64(w.Count)
	cells := cluster.Cells{Sums: mat.NewDense(1<<choice.Directions, e.d, nil), Records: float64(e.n), Noise: cluster.CellNoise{Count: variance / weight / weight, Sum: variance}}
	for i := range 1 << choice.Directions {
		cells.Counts = append(cells.Counts, float64(sums.Row(i)[0])/weight)
		for j, v := range sums.Row(i)[1:] {
			cells.Sums.Set(i, j, float64(v))
		}
	}
	if cells.Places, err = cluster.Places(cluster.Gaussian{Mean: m.Means(), Covariance: near.Matrix}, h); err != nil {
		return nil, err
	}
	return e.grouped(ctx, cells, b.Sketch(), weight, &cluster.Subspace{Through: m.Means(), Axes: axes}, clusters)
}

// two plays two rounds: moments, and then the cells of the codebook made from them.
func (e *encoded) two(ctx context.Context, clusters int) (*roundsAnswer, error) {
	m, noise, err := e.moments(firstShare)
	if err != nil {
		return nil, err
	}
	count := forecast.CellTerms{Columns: e.d, Clusters: clusters, Mu: e.mu, Parties: e.parties}.SecondCount()
	draft, err := codebook.New(ctx, codebook.Options{Mean: m.Means(), Covariance: m.Covariances(), Noise: noise, Bits: roundsBits, Records: float64(e.n), Clusters: clusters, Count: count, Public: e.source(), Workers: 1})
	if err != nil {
		return nil, err
	}
	c := draft.Codebook
	w := dp.NewCellWeights(c.Radius, false)
	b, err := sketch.NewCodes(sketch.CodesOptions{SumsOptions: e.sums(0), Codebook: c, Weights: w})
	if err != nil {
		return nil, err
	}
	sensitivity, err := dp.RecordCodes(c.Radius, len(c.Axes), w, dp.Zeroed)
	if err = errors.Join(err, b.Add(e.x)); err != nil {
		return nil, err
	}
	sums, variance := e.noised(b.Sketch(), sensitivity, 1-firstShare)
	cells, err := codebook.Cells(c, sums, w, variance, float64(e.n))
	if err != nil {
		return nil, err
	}
	out, err := e.grouped(ctx, cells, b.Sketch(), float64(w.Count), nil, clusters)
	if out == nil || err != nil {
		return nil, err
	}
	back := mat.NewDense(clusters, e.d, nil)
	for k := range clusters {
		back.SetRow(k, codebook.Back(c, out.model.RawRowView(k)))
	}
	out.model, out.codes, out.axes = back, len(c.Codes), len(c.Axes)
	return out, nil
}

// grouped groups cells, and counts the sizes whose intervals hold the exact sums of the same cells.
// Nil: too few cells stand out.
func (e *encoded) grouped(ctx context.Context, cells cluster.Cells, exact sketch.Sketch, weight float64, space *cluster.Subspace, clusters int) (*roundsAnswer, error) {
	found, err := cells.Group(ctx, space, cluster.Options{Clusters: clusters, Rand: e.rng})
	if faint := (*cluster.ErrTooNoisy)(nil); errors.As(err, &faint) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, truth := &roundsAnswer{model: found.Model}, make([]float64, clusters)
	for i := range cells.Counts {
		truth[cluster.Nearest(found.Model, cells.Places.RawRowView(i))] += float64(exact.Row(i)[0]) / weight
	}
	for k, one := range found.Clusters {
		if one.Cells > 0 {
			out.sizes++
			if math.Abs(one.Records-truth[k]) <= 1.959964*math.Sqrt(cells.Covariance(one.Cells, one.Cells, true)) {
				out.held++
			}
		}
	}
	return out, nil
}

// source returns a new stream of public numbers at each call.
func (e *encoded) source() projection.Source {
	var key [32]byte
	for i := range key {
		key[i] = byte(e.rng.Uint32())
	}
	return stream.New(key)
}

// inertia returns the sum of squared distances of the records from the nearest centre.
func (e *encoded) inertia(model *mat.Dense) (sum float64) {
	for i := range e.n {
		x := e.points.RawRowView(i)
		at := model.RawRowView(cluster.Nearest(model, x))
		for j, v := range x {
			sum += (v - at[j]) * (v - at[j])
		}
	}
	return sum
}

// measure plays the studies of a set: the records of each seed at both ε, plain and masked.
func (s roundsSet) measure(ctx context.Context, seeds int) ([]roundsRow, error) {
	rows := []roundsRow{{epsilon: 1}, {epsilon: 4}, {epsilon: 1, masked: true}, {epsilon: 4, masked: true}}
	for seed := range seeds {
		e := s.encode(rand.New(rand.NewPCG(hash(s.data.name), uint64(seed))))
		best, err := cluster.KMeans(ctx, e.points, cluster.Options{Clusters: s.clusters, Rand: e.rng})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			r := &rows[i]
			if e.mu, err = dp.MuOf(dp.Budget{Epsilon: r.epsilon, Delta: 1e-6}); err != nil {
				return nil, err
			}
			if e.parties = roundsParties; r.masked {
				e.parties = roundsParties / (roundsParties - 1.)
			}
			if err := r.play(ctx, e, s.clusters, best.Inertia); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// play adds one study. A way may find no clusters.
func (r *roundsRow) play(ctx context.Context, e *encoded, clusters int, best float64) error {
	for i, way := range []func(context.Context, int) (*roundsAnswer, error){e.curator, e.one, e.two} {
		answer, err := way(ctx, clusters)
		if err != nil {
			return err
		}
		if answer == nil {
			continue
		}
		r.answers[i]++
		r.ratio[i] += e.inertia(answer.model) / best
		r.sizes[i] += float64(answer.sizes)
		r.held[i] += float64(answer.held)
		r.codes += float64(answer.codes)
		r.axes += float64(answer.axes)
	}
	return nil
}

// curator is DP-Lloyd with the whole budget.
func (e *encoded) curator(_ context.Context, clusters int) (*roundsAnswer, error) {
	const unit = 3 / float64(1<<roundsBits)
	var rows [][]float64
	for i := range e.n {
		rows = append(rows, mat.Row(nil, i, e.points))
		for j := range rows[i] {
			rows[i][j] *= unit
		}
	}
	model := curated(rows, clusters, 1.2*math.Sqrt(e.typical)*unit, e.mu, e.rng)
	model.Scale(1/unit, model)
	return &roundsAnswer{model: model}, nil
}
