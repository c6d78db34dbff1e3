package analysis

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Contribution is one party's release, decoded and checked.
type Contribution struct {
	Party    int // index into the study's parties
	Header   protocol.Digest
	Records  int64
	Bytes    int64
	Sketches []sketch.Sketch
}

// Options of a run.
type Options struct {
	Study         *study.Study    // required
	Attempt       uint32          // required
	T2            protocol.Digest // required
	Complete      bool            // every member of the roster contributed
	Contributions []Contribution  // required, at least one, in the order of the study's parties
}

// check refuses contributions that would be counted twice or under another name.
func (o Options) check() error {
	if len(o.Contributions) == 0 {
		return errors.New("no releases")
	}
	last := -1
	for _, c := range o.Contributions {
		switch {
		case c.Party <= last || c.Party >= len(o.Study.Parties):
			return fmt.Errorf("release of party %d after that of party %d, of %d: want each once, in the study's order", c.Party, last, len(o.Study.Parties))
		case len(c.Sketches) != len(o.Study.Sketches):
			return fmt.Errorf("%d sketches of party %q, the study has %d", len(c.Sketches), o.Study.Parties[c.Party].Name, len(o.Study.Sketches))
		}
		last = c.Party
	}
	return nil
}

// Run answers the study's analyses. Labels holds one document per contribution,
// in their order, or is nil where no analysis labels records.
func Run(ctx context.Context, o Options) (Result, []Labels, error) {
	if err := o.check(); err != nil {
		return Result{}, nil, fmt.Errorf("running analyses: %w", err)
	}
	r := &run{Options: o}
	out, err := r.describe()
	if err != nil {
		return Result{}, nil, fmt.Errorf("running analyses: %w", err)
	}
	for i, a := range o.Study.Analyses {
		answer, err := r.answer(ctx, i, a)
		if why := (*noAnswer)(nil); errors.As(err, &why) {
			sk, _ := o.Study.SketchFor(a)
			answer, err = Analysis{Kind: a.Kind, Sketch: sk, Undefined: why.Error()}, nil
		}
		if err != nil {
			return Result{}, nil, fmt.Errorf("running analysis %d (%s): %w", i, a.Kind, err)
		}
		out.Analyses = append(out.Analyses, answer)
	}
	return out, r.labels, nil
}

// run is one call of Run.
type run struct {
	Options
	labels []Labels
}

// noAnswer is why the releases do not answer one analysis. The others are unharmed.
type noAnswer struct{ why string }

func (n *noAnswer) Error() string { return n.why }

// unanswerable returns such a reason, for people.
func unanswerable(format string, args ...any) error { return &noAnswer{fmt.Sprintf(format, args...)} }

func (r *run) answer(ctx context.Context, index int, a study.Analysis) (Analysis, error) {
	if err := ctx.Err(); err != nil {
		return Analysis{}, err
	}
	sk, ok := r.Study.SketchFor(a)
	if !ok {
		return Analysis{}, errors.New("no sketch of the study answers it")
	}
	switch side := r.Study.Sketches[sk].Side; {
	case side == sketch.Cells:
		return r.cellMeans(ctx, index, sk, a)
	case side == sketch.Moments:
		return r.ofMoments(ctx, sk, a)
	}
	switch a.Kind {
	case study.KMeans:
		return r.kMeans(ctx, index, sk, a)
	case study.GroupDistance:
		return r.groupDistance(ctx, sk, a)
	}
	c, err := r.columns(sk)
	if err != nil {
		return Analysis{}, err
	}
	out := Analysis{Kind: a.Kind, Sketch: sk}
	c.level = out.promise(a, Intervals(a.Kind, len(c.variables()), len(c.groups)))
	switch a.Kind {
	case study.Covariance:
		err = c.covariance(ctx, a, &out)
	case study.Correlation:
		c.correlation(a, &out)
		err = c.repairCorrelation(ctx, &out)
	case study.Intersection:
		c.intersection(&out)
	default:
		c.products(a.Kind, &out)
	}
	return out, err
}

// promise records at which level so many intervals hold, and returns the level for
// which each has to be built.
func (a *Analysis) promise(asked study.Analysis, count int) estimate.Level {
	a.Level, a.Intervals = float64(estimate.DefaultLevel), asked.Intervals
	if asked.Intervals != study.IntervalsAll {
		return estimate.DefaultLevel
	}
	each := estimate.DefaultLevel.Bonferroni(count)
	a.EachLevel = float64(each)
	return each
}

// describe fills everything but the answers.
func (r *run) describe() (Result, error) {
	s := r.Study
	out := Result{
		Format: ResultFormat, Study: s.ID.String(), Name: s.Name, Completeness: Partial,
		Attempt: r.Attempt, T2: r.T2.String(), Partition: s.Partition,
		Parties: []Party{}, Absent: []string{}, Sketches: []Sketch{}, Analyses: []Analysis{},
	}
	if r.Complete {
		out.Completeness = Full
	}
	in := map[int]bool{}
	for _, c := range r.Contributions {
		p := s.Parties[c.Party]
		in[c.Party] = true
		out.Parties = append(out.Parties, Party{Name: p.Name, ID: p.ID.String(), Records: c.Records, Release: c.Header.String(), Bytes: c.Bytes})
	}
	for i, p := range s.Parties {
		if !in[i] {
			out.Absent = append(out.Absent, p.Name)
		}
	}
	for i := range s.Sketches {
		d, err := r.describeSketch(i)
		if err != nil {
			return Result{}, err
		}
		out.Sketches = append(out.Sketches, d)
	}
	return out, nil
}

func (r *run) describeSketch(index int) (Sketch, error) {
	s := r.Study
	plan, err := release.For(s, r.Contributions[0].Party, index)
	if err != nil {
		return Sketch{}, err
	}
	g := plan.Noise.Guarantee()
	d := Sketch{
		Side: string(plan.Sketch().Side), Family: string(plan.Spec().Family), K: plan.Spec().K, S: plan.Spec().S, Bits: int(s.Bits),
		Unit: string(s.Privacy.Unit), Mechanism: string(g.Mechanism()), Epsilon: float64(g.Epsilon()), Delta: float64(g.Delta()),
		EpsilonPerParty: float64(s.Privacy.Epsilon), Statement: g.Statement(s.Privacy.Unit),
	}
	if plan.Sketch().Side.Sums() {
		d.Family = "sums"
	}
	if g.Mechanism() == dp.None {
		return d, nil
	}
	whole, err := s.Privacy.Guarantee()
	if err != nil {
		return Sketch{}, err
	}
	person, err := whole.PerPerson(s.Exposure())
	if err != nil {
		return Sketch{}, err
	}
	if e := float64(person.Epsilon(s.Privacy.Delta)); !math.IsInf(e, 0) {
		d.EpsilonPerPerson = &e
	}
	return d, nil
}
