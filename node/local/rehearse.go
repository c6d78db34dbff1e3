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
	"github.com/cosketch/cosketch/protocol/release/job"
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
	Sketches []RehearsedSketch `json:"sketches"`
	Bytes    int64             `json:"bytes"`  // of all sketches in the release
	Budget   []Spending        `json:"budget"` // of the dataset, per unit, at the δ of its cap if it has one
	Seconds  RehearsedTimes    `json:"seconds"`
	Allowed  bool              `json:"allowed"` // policy and budget would allow the release
	Refusal  string            `json:"refusal,omitempty"`
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
	Bits       bool    `json:"bits,omitempty"`   // Noise and Variance are of bits, before they are projected
	Statement  string  `json:"statement"`        // what the noise guarantees
	Labels     string  `json:"labels,omitempty"` // how labels are sent beside the rows, in words
}

// RehearsedTimes are durations in seconds.
type RehearsedTimes struct {
	Pass    float64 `json:"pass"`    // reading and projecting, which run concurrently
	Project float64 `json:"project"` // the part of Pass spent projecting rather than waiting for data
	Noise   float64 `json:"noise"`
	Encode  float64 `json:"encode"`
}

// Rehearse makes a party's release of a study, by the same steps, up to the point where the real
// one debits the ledger and stores it. It uses a fresh seed that nobody else has, and throws the
// release away: nothing is debited, stored or sent, and no approval is needed. refusal is the
// reason why policy or budget would not allow the real release; err is about the data or the site
// file.
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
	survey, err := r.NewSurvey(src, false)
	if err != nil {
		return out, nil, err
	}
	data := &source.Data{Source: r, From: src, See: survey.Add}
	passed := map[job.Stage]time.Time{}
	began := time.Now()
	made, err := job.Rehearse(ctx, r.Spec(src, job.Study{}, root), data, func(stage job.Stage) { passed[stage] = time.Now() })
	if err != nil {
		return out, nil, err
	}
	src.Plans = made.Plans // of the second pass, if there was a look
	times := RehearsedTimes{
		Pass:    passed[job.Projected].Sub(began).Seconds(),
		Project: data.Adding.Seconds(),
		Noise:   passed[job.Noised].Sub(passed[job.Projected]).Seconds(),
	}
	cut, err := cuts(made)
	if err != nil {
		return out, nil, err
	}
	began = time.Now()
	described, err := made.Describe()
	if err != nil {
		return out, nil, err
	}
	times.Encode = time.Since(began).Seconds()
	entries, err := r.Store.Ledger()
	if err != nil {
		return out, nil, err
	}
	if refusal, err = r.Permitted(src, made.Records.Count, entries); err != nil {
		return out, nil, err
	}
	out = Rehearsal{
		Study: r.Study.ID.String(), Name: r.Study.Name, Dataset: src.Data.Name,
		Records: made.Records.Count, Skipped: data.Summary.Skipped, Effect: survey.Effect(data.Summary, cut), Seconds: times, Allowed: refusal == nil,
	}
	if err := out.describe(made, described); err != nil {
		return out, nil, err
	}
	if refusal != nil {
		out.Refusal = refusal.Error()
	}
	out.Budget, err = accounts(r, src, entries)
	return out, refusal, err
}

// cuts describes the clipping of the sketches with noise, which are not masked yet.
func cuts(made job.Rehearsed) ([]source.SketchEffect, error) {
	out := []source.SketchEffect{}
	for i, plan := range made.Plans {
		if plan.Clip == 0 {
			continue
		}
		clip := plan.Clip
		if plan.Moments != nil {
			summed, err := plan.Summed(made.Sketches[i].Sketch)
			if err != nil {
				return nil, fmt.Errorf("sketch %d: %w", i+1, err)
			}
			clip = summed.Clip
		}
		out = append(out, source.EffectOf(plan, clip, &made.Sketches[i].Clipped, made.Records.Count))
	}
	return out, nil
}

// describe fills in what was made.
func (out *Rehearsal) describe(made job.Rehearsed, described []protocol.ReleasedSketch) error {
	for i, plan := range made.Plans {
		d, sketch := described[i], made.Sketches[i]
		out.Bytes += d.Size()
		drawn, err := plan.NoiseIn(sketch.Sketch)
		if err != nil {
			return fmt.Errorf("sketch %d: %w", i+1, err)
		}
		noise, variance := drawn.String(), drawn.Variance()
		if !plan.Flips.Zero() {
			noise, variance = plan.Flips.String(), plan.Flips.Variance()
		}
		out.Sketches = append(out.Sketches, RehearsedSketch{
			Side: string(d.Side), Projection: plan.Sketch().Method(), Rows: d.Rows, Cols: d.Cols, Width: d.Width, Bytes: d.Size(),
			Clipped: sketch.Clipped, Noise: noise, Variance: variance,
			Deviation: math.Sqrt(variance), Bits: !plan.Flips.Zero(), Statement: plan.Statement(), Labels: labelsText(plan),
		})
	}
	return nil
}

// labelsText says how the labels beside a sketch's rows are sent; "" without labels.
func labelsText(p release.Plan) string {
	if p.Labels == nil {
		return ""
	}
	return p.Labels.String()
}

// labelsAs is the same as a code.
func labelsAs(p release.Plan) study.Labels {
	switch {
	case p.Labels == nil:
		return study.LabelsNone
	case p.Labels.Response.Zero():
		return study.LabelsPlain
	}
	return study.LabelsRandomised
}

// accounts adds the debits that the release still needs to the dataset's accounts.
func accounts(r *source.Source, src *source.Dataset, entries []ledger.Entry) ([]Spending, error) {
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
	account := func(unit dp.Unit, limit config.Budget) Spending {
		a := ledger.Account{Dataset: src.Data.Name, Unit: unit, Delta: largest}
		out := Spending{Dataset: a.Dataset, Unit: unit}
		if limit.Epsilon > 0 {
			out.Cap, a.Delta = Finite(limit.Epsilon), limit.Delta
		}
		spent := ledger.Total(after, a)
		out.Before, out.After, out.Delta = Finite(ledger.Total(entries, a).Epsilon), Finite(spent.Epsilon), float64(spent.Delta)
		return out
	}
	return []Spending{account(dp.Record, src.Data.Caps.Record), account(dp.Attribute, src.Data.Caps.Attribute)}, nil
}

// Finite is ε, or nil where the loss is unbounded.
func Finite(e dp.Epsilon) *float64 {
	x := float64(e)
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}
