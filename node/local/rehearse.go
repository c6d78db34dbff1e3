package local

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Rehearsal describes a release that was made of a party's data and thrown away.
type Rehearsal struct {
	Study   string `json:"study"`
	Name    string `json:"name"`
	Dataset string `json:"dataset"`
	Records int64  `json:"records"`
	Skipped int64  `json:"skipped"` // left out for a missing value
	source.Effect
	Sketches []RehearsedSketch  `json:"sketches"`
	Bytes    int64              `json:"bytes"`  // of all sketches, which would leave
	Budget   []RehearsedAccount `json:"budget"` // the dataset's, per unit
	Seconds  RehearsedTimes     `json:"seconds"`
	Allowed  bool               `json:"allowed"` // policy and budget would let it leave
	Refusal  string             `json:"refusal,omitempty"`
}

// RehearsedSketch describes one sketch.
type RehearsedSketch struct {
	Side       string  `json:"side"`
	Projection string  `json:"projection"`
	Rows       int64   `json:"rows"`
	Cols       int64   `json:"cols"`
	Width      int     `json:"width"` // bytes of an entry
	Bytes      int64   `json:"bytes"`
	Clipped    int64   `json:"clipped"`  // records whose contribution was clipped
	Noise      string  `json:"noise"`    // in words
	Variance   float64 `json:"variance"` // of one entry's noise, or of one flipped bit's, in squared units of entries
	Deviation  float64 `json:"deviation"`
	Bits       bool    `json:"bits,omitempty"`   // both are of bits, before they are projected
	Statement  string  `json:"statement"`        // what the noise promises
	Labels     string  `json:"labels,omitempty"` // what travels beside the rows, in words
}

// RehearsedAccount is what the release would do to one of the dataset's accounts,
// at the δ of its cap where it has one. Epsilon is null where the loss is unbounded.
type RehearsedAccount struct {
	Unit   string   `json:"unit"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
	Cap    *float64 `json:"cap"` // null: counted, not limited
	Delta  float64  `json:"delta"`
}

// RehearsedTimes are durations in seconds.
type RehearsedTimes struct {
	Pass    float64 `json:"pass"`    // reading and projecting, which go on side by side
	Project float64 `json:"project"` // of it, in which a batch was projected rather than waited for
	Noise   float64 `json:"noise"`
	Encode  float64 `json:"encode"`
}

// Rehearse makes a party's release of a study up to the point where the real one
// debits the ledger and stores it, by the same steps, under a fresh seed of its own
// that nobody else has, and throws it away: nothing is debited, stored or sent, and
// no approval is needed. refusal is why policy or budget would not let the real
// release leave; err is about the data or the site file.
func Rehearse(ctx context.Context, o source.Options) (out Rehearsal, refusal, err error) {
	h, err := o.Source()
	if err == nil {
		out, refusal, err = rehearse(ctx, h)
	}
	if err != nil {
		return Rehearsal{}, nil, fmt.Errorf("rehearsing the release for study %s: %w", o.Study.ID.Short(), err)
	}
	return out, refusal, nil
}

func rehearse(ctx context.Context, r *source.Source) (out Rehearsal, refusal, err error) {
	src, err := r.Open()
	if err != nil {
		return out, nil, err
	}
	root, err := source.FreshSeed(r.Entropy)
	if err != nil {
		return out, nil, err
	}
	defer root.Destroy()
	look, err := r.RehearseLook(ctx, src)
	if err != nil {
		return out, nil, err
	}
	builders, err := r.Builders(src, root)
	if err != nil {
		return out, nil, err
	}
	for _, b := range builders {
		if err := b.Randomise(r.Entropy); err != nil {
			return out, nil, err
		}
	}
	var times RehearsedTimes
	var exact *source.Exact
	survey, err := r.NewSurvey(src, false)
	if err != nil {
		return out, nil, err
	}
	times.Pass = timed(func() { exact, err = r.ProjectAnd(ctx, src, builders, survey.Add) })
	if err != nil {
		return out, nil, err
	}
	times.Project = exact.Adding.Seconds()
	times.Pass += look.Seconds()
	times.Noise = timed(func() { err = r.Noise(src, exact) })
	if err != nil {
		return out, nil, err
	}
	cut, err := cuts(exact, src)
	if err != nil {
		return out, nil, err
	}
	for i := range exact.Sketches {
		if r.Study.Masked() { // there are no other members to agree on masks with
			exact.Sketches[i].Masked = len(r.Study.Parties)
		}
	}
	var described []protocol.ReleasedSketch
	times.Encode = timed(func() { described, _, err = exact.Encode() })
	if err != nil {
		return out, nil, err
	}
	entries, err := r.Store.Ledger()
	if err != nil {
		return out, nil, err
	}
	if refusal, err = r.Permitted(src, exact.Summary.Records, entries); err != nil {
		return out, nil, err
	}
	if out, err = describe(r.Study, src, exact, described, survey.Effect(exact.Summary, cut)); err != nil {
		return out, nil, err
	}
	out.Seconds, out.Allowed = times, refusal == nil
	if refusal != nil {
		out.Refusal = refusal.Error()
	}
	out.Budget, err = accounts(r, src, entries)
	return out, refusal, err
}

func timed(do func()) (seconds float64) {
	began := time.Now()
	do()
	return time.Since(began).Seconds()
}

// cuts says what was cut of sketches with noise, which are not masked yet.
func cuts(e *source.Exact, src *source.Opened) ([]source.SketchEffect, error) {
	out := []source.SketchEffect{}
	for i, plan := range src.Plans {
		if plan.Clip == 0 {
			continue
		}
		clip := plan.Clip
		if plan.Moments != nil {
			summed, err := plan.Summed(e.Sketches[i].Sketch)
			if err != nil {
				return nil, fmt.Errorf("sketch %d: %w", i+1, err)
			}
			clip = summed.Clip
		}
		out = append(out, source.EffectOf(plan, clip, &e.Sketches[i].Clipped, e.Summary.Records))
	}
	return out, nil
}

// describe says what was made.
func describe(s *study.Study, src *source.Opened, e *source.Exact, described []protocol.ReleasedSketch, effect source.Effect) (Rehearsal, error) {
	out := Rehearsal{
		Study: s.ID.String(), Name: s.Name, Dataset: src.Data.Name,
		Records: e.Summary.Records, Skipped: e.Summary.Skipped, Effect: effect,
	}
	for i, plan := range src.Plans {
		d := described[i]
		out.Bytes += d.Size()
		drawn, err := plan.NoiseIn(e.Sketches[i].Sketch)
		if err != nil {
			return out, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		noise, variance := drawn.String(), drawn.Variance()
		if !plan.Flips.Zero() {
			noise, variance = plan.Flips.String(), plan.Flips.Variance()
		}
		out.Sketches = append(out.Sketches, RehearsedSketch{
			Side: string(d.Side), Projection: plan.Sketch().Method(), Rows: d.Rows, Cols: d.Cols, Width: d.Width, Bytes: d.Size(),
			Clipped: e.Sketches[i].Clipped, Noise: noise, Variance: variance,
			Deviation: math.Sqrt(variance), Bits: !plan.Flips.Zero(), Statement: plan.Statement(), Labels: labelsText(plan),
		})
	}
	return out, nil
}

// labelsText says what is done to the labels beside a sketch's rows; "" without any.
func labelsText(p release.Plan) string {
	if p.Labels == nil {
		return ""
	}
	return p.Labels.String()
}

// accounts adds the debits that the release still needs to the dataset's accounts.
func accounts(r *source.Source, src *source.Opened, entries []ledger.Entry) ([]RehearsedAccount, error) {
	after := entries
	var largest dp.Delta
	for _, next := range r.Due(src, entries) {
		var err error
		if after, err = source.Chain(after, next); err != nil {
			return nil, err
		}
	}
	for _, e := range after {
		if e.Dataset == src.Data.Name {
			largest = max(largest, e.Delta)
		}
	}
	account := func(unit dp.Unit, limit config.Budget) RehearsedAccount {
		a := ledger.Account{Dataset: src.Data.Name, Unit: unit, Delta: largest}
		out := RehearsedAccount{Unit: string(unit)}
		if limit.Epsilon > 0 {
			out.Cap, a.Delta = finite(limit.Epsilon), limit.Delta
		}
		spent := ledger.Total(after, a)
		out.Before, out.After, out.Delta = finite(ledger.Total(entries, a).Epsilon), finite(spent.Epsilon), float64(spent.Delta)
		return out
	}
	return []RehearsedAccount{account(dp.Record, src.Data.Caps.Record), account(dp.Attribute, src.Data.Caps.Attribute)}, nil
}

// finite is ε, or nil where the loss is unbounded.
func finite(e dp.Epsilon) *float64 {
	x := float64(e)
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}
