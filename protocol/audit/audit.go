package audit

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Options configure an audit of one sketch.
type Options struct {
	// Trials under each of two data sets. Default: as many as about 2^26 numbers of noise allow,
	// 200 to 100,000. If so few would let half of the noise pass, up to as many as 2^28 numbers
	// allow.
	Trials  int
	Entropy io.Reader // required: source of R, noise and the choice of neighbours
}

// Audit is the result of running a plan as it would run in a study, but on made-up data:
// projection, clipping, noise and encoding.
type Audit struct {
	Declared dp.Sensitivity // the sensitivity that noise was calibrated for; zero under randomised response
	Found    dp.Sensitivity // the largest change of the exact sketch found for a change of the unit
	Drawn    dp.Epsilon     // randomised response: ε of the flips as drawn
	Finding  audit.Finding
	Spread   *audit.GoodnessOfFit // the noise as drawn; nil under randomised response
	OneRun   OneRun
	Labels   *Labels // nil unless randomised labels are released
	Remarks  []string

	// Conclusive reports whether these trials would have failed a release with half of the noise,
	// or with flips for twice the ε. If not, a passed claim means little.
	Conclusive bool
}

// Doubt is the probability that a sound mechanism fails, OneRunFalseRejection that what one run finds is
// wrong.
const (
	Doubt       = audit.FalseRejection
	OneRunDoubt = audit.OneRunFalseRejection
)

// OneRun is what a single release reveals, in which each canary was included by a fair coin. It
// finds less than trials do, but could be applied to a real release.
type OneRun struct {
	audit.Guesses
	Found dp.Epsilon // lower bound on the true ε, wrong with probability audit.OneRunFalseRejection
}

// Passed reports whether no test contradicts the claim.
func (a Audit) Passed() bool {
	covered := a.Declared == dp.Sensitivity{} || a.Found.L1 <= a.Declared.L1 && a.Found.L2Squared <= a.Declared.L2Squared
	drawn := a.Spread == nil || a.Spread.Passed
	return covered && drawn && a.Drawn <= a.Finding.Claimed && a.Finding.Passed && a.Labels.Passed()
}

// Sketch makes releases of neighbouring data sets that differ as much as possible, and judges the
// claim by how well they can be told apart. It draws its own R, since a study's seed does not
// outlive the study, and needs no data. A plan without noise claims nothing and is an error.
func Sketch(ctx context.Context, of release.Plan, o Options) (Audit, error) {
	p := plan{of}
	claim := p.Noise.Guarantee()
	if claim.Mechanism() == dp.None {
		return Audit{}, fmt.Errorf("auditing sketch %d: mechanism none promises nothing that could be audited", p.Index+1)
	}
	var key [seed.Size]byte
	if _, err := io.ReadFull(o.Entropy, key[:]); err != nil {
		return Audit{}, fmt.Errorf("drawing a matrix to audit: %w", err)
	}
	root := seed.FromBytes(key)
	g, err := dp.NewGenerator(o.Entropy)
	if err != nil {
		return Audit{}, err
	}
	defer g.Destroy()
	out := Audit{Remarks: p.remarks()}
	if !p.Flips.Zero() {
		out.Drawn = p.Flips.Epsilon()
	}
	whole := p
	p.Labels = nil
	p, out.Found, err = p.settled(root, g)
	if err != nil {
		return Audit{}, err
	}
	out.Declared = p.Sensitivity
	c, err := newCanaries(p, root, g)
	if err != nil {
		return Audit{}, fmt.Errorf("auditing sketch %d: %w", p.Index+1, err)
	}
	if o.Trials == 0 {
		if o.Trials, err = c.enough(ctx, claim, o.Entropy); err != nil {
			return Audit{}, fmt.Errorf("auditing sketch %d: %w", p.Index+1, err)
		}
	}
	if out.OneRun, err = c.oneRun(g, o.Entropy); err != nil {
		return Audit{}, fmt.Errorf("auditing sketch %d: %w", p.Index+1, err)
	}
	if out.Spread, err = p.spread(o.Entropy); err != nil {
		return Audit{}, fmt.Errorf("auditing sketch %d: %w", p.Index+1, err)
	}
	trials, weak, err := c.trials(ctx, o.Trials, o.Entropy)
	if err != nil {
		return Audit{}, fmt.Errorf("auditing sketch %d: %w", p.Index+1, err)
	}
	if out.Conclusive, err = c.concludes(claim, weak); err != nil {
		return Audit{}, fmt.Errorf("auditing sketch %d: %w", p.Index+1, err)
	}
	if out.Finding, err = audit.Judge(claim, trials); err != nil {
		return Audit{}, fmt.Errorf("auditing sketch %d: %w", p.Index+1, err)
	}
	if out.Labels, err = whole.auditLabels(ctx, root, o.Trials, o.Entropy); err != nil {
		return Audit{}, fmt.Errorf("auditing the labels of sketch %d: %w", p.Index+1, err)
	}
	return out, nil
}

// settled returns the plan that a party runs once it has chosen its clip, or how to shift its
// records, by noisy numbers. Of all clips it takes the one under which a change of a record comes
// closest to what the noise covers. It returns a plan without such a choice unchanged.
func (p plan) settled(root seed.Seed, g *dp.Generator) (worst plan, realised dp.Sensitivity, err error) {
	if p.Own != nil {
		p.Plan, err = p.SketchAlone()
	}
	if err != nil {
		return p, dp.Sensitivity{}, err
	}
	if !p.Chooses() {
		realised, err = Realise(p.Plan, root, g)
		return p, realised, err
	}
	if p.Looks() { // noise must cover any outcome of the look
		if p.Plan, err = p.Unmoved(); err != nil {
			return p, dp.Sensitivity{}, err
		}
	}
	closest := -1.
	for clip := range p.Choices() {
		one, err := p.ClippedAt(clip)
		if err != nil {
			return p, dp.Sensitivity{}, err
		}
		q := plan{one}
		moved, err := Realise(one, root, g)
		if err != nil {
			return p, dp.Sensitivity{}, err
		}
		if share := float64(q.size(moved)) / float64(q.size(q.Sensitivity)); share > closest {
			worst, realised, closest = q, moved, share
		}
	}
	return worst, realised, nil
}

// enough returns the default number of trials. It starts with a quick number and takes more while
// half of the noise would pass. Its own trials judge no claim, so that the number does not depend
// on the verdict.
func (c *canaries) enough(ctx context.Context, claim dp.Guarantee, entropy io.Reader) (int, error) {
	rows, cols := c.plan.Shape(int64(len(c.ids)))
	each := max(2*rows*cols/int64(len(c.all)), 1) // numbers of noise for a trial under both data sets
	n := min(max((1<<26)/each, 200), 100_000)
	for most := max((1<<28)/each, n); ; n = min(4*n, most) {
		_, weak, err := c.trials(ctx, int(n), entropy)
		if err != nil {
			return 0, err
		}
		if good, err := c.concludes(claim, weak); good || err != nil || n == most {
			return int(min(2*n, most)), err // twice as many are almost surely conclusive
		}
	}
}

// concludes reports whether scores under half of the noise fail the claim.
func (c *canaries) concludes(claim dp.Guarantee, weak audit.Trials) (bool, error) {
	if !c.plan.Flips.Zero() {
		return audit.FlipsConclude(claim.Epsilon(), min(len(weak.With), len(weak.Without))), nil
	}
	f, err := audit.Judge(claim, weak)
	return !f.Passed, err
}

// spread draws noise and compares it with its nominal distribution.
func (p plan) spread(entropy io.Reader) (*audit.GoodnessOfFit, error) {
	if !p.Flips.Zero() {
		return nil, nil
	}
	const draws = 100_000
	drawn := make([]int64, draws)
	if err := p.Noise.Add(drawn, entropy); err != nil {
		return nil, err
	}
	out, err := audit.Fit(drawn, audit.Law{Mechanism: p.Noise.Guarantee().Mechanism(), Variance: p.Noise.Variance()})
	return &out, err
}

// remarks returns remarks on the plan's design.
func (p plan) remarks() []string {
	if p.Own != nil {
		return []string{"the audit tests the sketch, of values moved and scaled so that records are as long as they can be; it does not test the noisy numbers by which a party moves its values, nor the sums beside the sketch: they have their own share of the budget"}
	}
	if p.Chooses() {
		return []string{"the audit tests the sums, with the clip at which a record comes closest to what their noise covers; it does not test the noisy numbers by which a party chooses its clip, or moves its records: they have their own share of the budget"}
	}
	d := audit.Design{Unit: p.Study.Privacy.Unit, Side: p.Sketch().Side, Projection: p.Spec(), Columns: p.Spanned()}
	if p.Sketch().Side == sketch.Records {
		noise := p.NoiseOf(0, 1, 1)
		d.Variance, d.FourthCumulant = noise.Variance, noise.FourthCumulant
		for _, c := range p.Columns() {
			d.Distance += apart(p.Study.Columns[c], p.Study.Bits)
		}
	}
	return d.Remarks()
}

// apart returns the mean squared distance of two values of a column, in encoded units. It assumes
// that values are uniform within bounds, fair coins, categories of equal weight, or have the
// declared spread (a third of one).
func apart(c study.Column, bits fixedpoint.Bits) float64 {
	switch {
	case c.Kind == study.Binary:
		return 0.5
	case c.Kind == study.Categorical:
		return 2 * (1 - 1/float64(len(c.Values)))
	case c.Scale.Range(bits) > bits.One():
		return 2. / 9
	}
	return 1. / 6
}
