package audit

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/protocol/audit"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// AuditReport compares a mechanism's claim with trials on synthetic data.
type AuditReport struct {
	Study    string          `json:"study"`
	Name     string          `json:"name"`
	Passed   bool            `json:"passed"`
	Doubt    float64         `json:"doubt"` // probability that a sound mechanism fails the audit
	Sketches []AuditedSketch `json:"sketches"`
}

// AuditedSketch is the audit of one sketch of one party.
type AuditedSketch struct {
	Party     string         `json:"party"`
	Sketch    int            `json:"sketch"` // from 1
	Side      string         `json:"side"`
	Mechanism string         `json:"mechanism"`
	Unit      string         `json:"unit"`
	Claimed   float64        `json:"claimed_epsilon"`
	Delta     float64        `json:"delta"`
	Found     float64        `json:"found_epsilon"` // lower bound on the true epsilon
	Reach     float64        `json:"reach_epsilon"` // the largest lower bound that this number of trials could give
	Drawn     float64        `json:"drawn_epsilon,omitempty"`
	Trials    int            `json:"trials"`
	Declared  *[2]int64      `json:"declared_l1_l2squared,omitempty"`
	Realised  *[2]int64      `json:"realised_l1_l2squared,omitempty"`
	Statement string         `json:"statement"`
	OneRun    AuditedOneRun  `json:"one_run"`
	Noise     *AuditedNoise  `json:"noise,omitempty"`
	Labels    *AuditedLabels `json:"labels,omitempty"`
	Remarks   []string       `json:"remarks"`
	Passed    bool           `json:"passed"`

	Conclusive bool `json:"conclusive"` // with this number of trials, half of the noise would not have passed
}

// Verdict is PASS, FAIL, or INCONCLUSIVE if a pass means little.
func (s AuditedSketch) Verdict() string { return verdict(s.Passed, s.Conclusive) }

func verdict(passed, conclusive bool) string {
	switch {
	case !passed:
		return "FAIL"
	case !conclusive:
		return "INCONCLUSIVE"
	}
	return "PASS"
}

// Verdict is FAIL if any sketch fails, or else INCONCLUSIVE if any is.
func (a AuditReport) Verdict() string {
	return verdict(a.Passed, !slices.ContainsFunc(a.Sketches, func(s AuditedSketch) bool { return !s.Conclusive || s.Labels != nil && !s.Labels.Conclusive }))
}

// AuditedLabels is the audit of the randomised labels of a sketch.
type AuditedLabels struct {
	Claimed float64 `json:"claimed_epsilon"`
	Found   float64 `json:"found_epsilon"`
	Reach   float64 `json:"reach_epsilon"`
	Drawn   float64 `json:"drawn_epsilon"`
	Trials  int     `json:"trials"`
	Passed  bool    `json:"passed"`

	Conclusive bool `json:"conclusive"`
}

// Verdict is the verdict on the labels only.
func (l AuditedLabels) Verdict() string { return verdict(l.Passed, l.Conclusive) }

// AuditedOneRun is what one release reveals about canaries that fair coins included.
type AuditedOneRun struct {
	Canaries int     `json:"canaries"`
	Guessed  int     `json:"guessed"`
	Right    int     `json:"right"`
	Found    float64 `json:"found_epsilon"`
	Doubt    float64 `json:"doubt"`
}

// AuditedNoise compares drawn noise with its stated distribution.
type AuditedNoise struct {
	Draws     int          `json:"draws"`
	Variance  float64      `json:"variance_over_stated"`
	Chance    float64      `json:"p_value"`
	Histogram []AuditedBin `json:"histogram"`
}

// AuditedBin compares the number of draws in an interval with the expected number.
type AuditedBin struct {
	From     int64   `json:"from"`
	To       int64   `json:"to"` // exclusive
	Drawn    int     `json:"drawn"`
	Expected float64 `json:"expected"`
}

// Options configures Audit.
type Options struct {
	Study   *study.Study                   // required, with a mechanism other than none
	Parties []int                          // required: the parties whose plans are tried
	Trials  int                            // under each of two data sets; 0: chosen by the size of a sketch
	Entropy io.Reader                      // required
	Observe func(party string, sketch int) // called for each sketch, from 1, before its trials; default: none
}

// Audit tries the plans of parties on synthetic data, in this process. It reads no data and spends
// no budget.
func Audit(ctx context.Context, o Options) (AuditReport, error) {
	out := AuditReport{Study: o.Study.ID.String(), Name: o.Study.Name, Passed: true, Doubt: audit.Doubt}
	for _, party := range o.Parties {
		for i := range o.Study.Sketches {
			if o.Observe != nil {
				o.Observe(o.Study.Parties[party].Name, i+1)
			}
			one, err := o.sketch(ctx, party, i)
			if err != nil {
				return AuditReport{}, fmt.Errorf("auditing study %s: %w", o.Study.ID.Short(), err)
			}
			out.Sketches = append(out.Sketches, one)
			out.Passed = out.Passed && one.Passed
		}
	}
	return out, nil
}

func (o Options) sketch(ctx context.Context, party, index int) (AuditedSketch, error) {
	plan, err := release.For(o.Study, party, index)
	if err != nil {
		return AuditedSketch{}, err
	}
	a, err := audit.Sketch(ctx, plan, audit.Options{Trials: o.Trials, Entropy: o.Entropy})
	if err != nil {
		return AuditedSketch{}, err
	}
	claim, f := plan.Noise.Guarantee(), a.Finding
	out := AuditedSketch{
		Party: o.Study.Parties[party].Name, Sketch: index + 1, Side: string(plan.Sketch().Side),
		Mechanism: string(claim.Mechanism()), Unit: string(o.Study.Privacy.Unit),
		Claimed: float64(f.Claimed), Delta: float64(f.Delta), Found: float64(f.Found), Reach: float64(f.Detectable), Drawn: float64(a.Drawn),
		Trials: f.Trials, Statement: plan.Statement(), Remarks: append([]string{}, a.Remarks...), Passed: a.Passed(), Conclusive: a.Conclusive,
	}
	if l := a.Labels; l != nil {
		out.Labels = &AuditedLabels{float64(l.Finding.Claimed), float64(l.Finding.Found), float64(l.Finding.Detectable), float64(l.Drawn), l.Finding.Trials, l.Passed(), l.Conclusive}
	}
	out.OneRun = AuditedOneRun{a.OneRun.Canaries, a.OneRun.Made, a.OneRun.Right, float64(a.OneRun.Found), audit.OneRunDoubt}
	if a.Spread != nil {
		out.Noise = &AuditedNoise{Draws: a.Spread.Draws, Variance: a.Spread.Variance, Chance: a.Spread.Chance}
		for _, b := range a.Spread.Histogram {
			out.Noise.Histogram = append(out.Noise.Histogram, AuditedBin(b))
		}
	}
	if plan.Flips.Zero() {
		out.Declared = &[2]int64{a.Declared.L1, a.Declared.L2Squared}
		out.Realised = &[2]int64{a.Found.L1, a.Found.L2Squared}
	}
	return out, nil
}
