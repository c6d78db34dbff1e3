package analysis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Contribution is one party's release, decoded and validated.
type Contribution struct {
	Party    int // index into the study's parties
	Header   protocol.Digest
	Records  int64
	Bytes    int64
	Sketches []sketch.Sketch
	Rows     []release.Rows // by sketch: what the release says of rows; required if a sketch is joined
	Labels   [][]int        // by sketch: the label of each row; nil if no labels are released
	Masked   int            // how many members the masks are for; 0: not masked
	// Published are the row keys that the release publishes, in the study's order; required if a
	// sketch is of cells.
	Published [][32]byte
	// Scan passes the entries of a sketch to take, block by block and in order. Set it if Sketches
	// has only the shape of the sketch and no Data: then only the merged sketch is in memory. If
	// labels are released, each row of records is followed by its label. An error of Scan ends the
	// run.
	Scan func(sketch int, take func(entries []int64)) error
}

// Options of a run.
type Options struct {
	Study         *study.Study    // required
	Attempt       uint32          // required
	T2            protocol.Digest // required
	Complete      bool            // every member of the roster contributed
	FirstOnly     bool            // the contributions come from FromFirst, without a second round
	Contributions []Contribution  // required, at least one, in the order of the study's parties
	// Analyses are the questions to answer; default: the study's own.
	Analyses []study.Analysis
	Entropy  io.Reader      // for handles of records that are told to other parties; required for neighbors
	Memory   int64          // bytes that an analysis may use; what needs more is undefined. Default: no limit
	Memo     Checkpoint     // stores the results of long steps. Default: an interrupted run begins anew
	Scratch  Scratch        // holds what does not fit into Memory, and some of what Run returns. Default: such analyses are undefined
	Workers  int            // goroutines; results do not depend on it. Default 1
	Observe  func(Progress) // called with the progress of long analyses, ten times each; default: nil
	Failed   func(Failure)  // called with each failed analysis, for a log; default: nil
	// Keep stores the tables of analyses of more than MostInline features. Default: the result
	// itself holds all pairs, which takes much memory.
	Keep PartStore
}

// Scratch is storage beside the memory, such as mapped files. What it gives is used until Run
// returns, and afterwards by Labels.
type Scratch interface {
	room.Allocator
	Part() room.Part
}

// Failure is an analysis that ended with an error or a panic. The document says that it is
// undefined. An analysis that the releases cannot answer is not a failure.
type Failure struct {
	Analysis int // its index
	Kind     study.AnalysisKind
	Err      error
	Stack    string // of a panic; otherwise empty
}

// Progress is how far an analysis has come.
type Progress struct {
	Analysis    int // its index
	Kind        study.AnalysisKind
	Done, Total int // steps of this analysis
}

// manySteps is the number of steps from which an analysis counts as long.
const manySteps = 200

// tell returns a function that reports the progress of one long step.
func (o Options) tell(index int, kind study.AnalysisKind) func(done, total int) {
	return func(done, total int) {
		if o.Observe != nil {
			o.Observe(Progress{Analysis: index, Kind: kind, Done: done, Total: total})
		}
	}
}

// observer returns a function that reports every tenth of an analysis with many steps.
func (o Options) observer(index int, kind study.AnalysisKind) func(done, total int) {
	return func(done, total int) {
		if total >= manySteps && done*10/total != (done-1)*10/total {
			o.tell(index, kind)(done, total)
		}
	}
}

// check returns an error if contributions are incomplete, repeated or out of order.
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
		for i := range o.Study.Sketches {
			if o.Study.Merge(i) == study.Join && (len(c.Rows) <= i || len(c.Rows[i].Pseudonyms) != c.Sketches[i].Rows) {
				return fmt.Errorf("sketch %d of party %q: want one pseudonym for each row", i+1, o.Study.Parties[c.Party].Name)
			}
		}
		if err := o.checkLabels(c); err != nil {
			return err
		}
		if err := o.checkMasked(c); err != nil {
			return err
		}
		last = c.Party
	}
	return nil
}

// checkLabels returns an error if a contribution lacks labels that the study releases.
func (o Options) checkLabels(c Contribution) error {
	for i, sk := range c.Sketches {
		if _, ok := o.Study.LabelOf(c.Party, i); ok && (len(c.Labels) != len(c.Sketches) || len(c.Labels[i]) != sk.Rows) {
			return fmt.Errorf("sketch %d of party %q: want one label for each row", i+1, o.Study.Parties[c.Party].Name)
		}
	}
	return nil
}

// Run answers the analyses. Labels holds one document per contribution, in their order, or is nil
// if no analysis labels records.
//
// If an analysis fails, even by a panic in its numerics, it is undefined in the result, and the
// others are answered. Run itself returns an error if ctx ends, if contributions do not match the
// study or cannot be read, if a masked sum is spoilt, and if Entropy or Keep fails.
func Run(ctx context.Context, o Options) (Result, []Labels, error) {
	if err := o.check(); err != nil {
		return Result{}, nil, fmt.Errorf("running analyses: %w", err)
	}
	if o.Analyses == nil {
		o.Analyses = o.Study.Analyses
	}
	r := &run{Options: o}
	out, err := r.describe()
	if err != nil {
		return Result{}, nil, fmt.Errorf("running analyses: %w", err)
	}
	for i, a := range o.Analyses {
		answer, err := r.attempt(ctx, i, a)
		if err != nil {
			return Result{}, nil, fmt.Errorf("running analysis %d (%s): %w", i+1, a.Kind, err)
		}
		out.Analyses = append(out.Analyses, answer)
	}
	return out, r.labels, nil
}

// attempt answers an analysis, or says why it is undefined. An error ends the run.
func (r *run) attempt(ctx context.Context, index int, a study.Analysis) (Analysis, error) {
	answer, stack, err := r.recovered(ctx, index, a)
	switch why, broken, keeping, noRoom := (*noAnswer)(nil), (*brokenInput)(nil), (*StoreError)(nil), (*room.Error)(nil); {
	case err == nil:
		answer.word()
		return answer, nil
	case errors.As(err, &broken) || errors.As(err, &keeping):
		return Analysis{}, err
	case errors.As(err, &noRoom):
		return Analysis{}, &StoreError{err}
	case ctx.Err() != nil:
		return Analysis{}, ctx.Err()
	case !errors.As(err, &why):
		if r.Failed != nil {
			r.Failed(Failure{Analysis: index, Kind: a.Kind, Err: err, Stack: stack})
		}
		err = fmt.Errorf("the analysis failed: %w", err)
		if stack != "" { // the text of a panic is for the log
			err = errors.New("the analysis failed: internal error; the aggregator's log says more")
		}
	default:
		err = why
	}
	for i, l := range r.labels {
		r.labels[i].Columns = slices.DeleteFunc(l.Columns, func(c RowColumn) bool { return c.Analysis == index })
	}
	sk, _ := r.Study.SketchFor(a)
	return Analysis{Kind: a.Kind, Sketch: sk, Undefined: err.Error()}, nil
}

// recovered is answer, but returns a panic as an error, with its stack.
func (r *run) recovered(ctx context.Context, index int, a study.Analysis) (out Analysis, stack string, err error) {
	defer func() {
		if p := recover(); p != nil {
			said, at := parallel.Recovered(p)
			out, stack, err = Analysis{}, at, fmt.Errorf("panic: %v", said)
		}
	}()
	defer func() { err = errors.Join(err, r.clear()) }()
	out, err = r.answer(ctx, index, a)
	return out, "", err
}

// run is the state of one call of Run.
type run struct {
	Options
	labels   []Labels
	gathered map[int]*points // by sketch of the records side
	merged   map[int]columns // by sketch of the columns side
	part     room.Part       // of Scratch, for the analysis being answered; nil: none taken yet
}

// scratch returns room for one analysis; lasting returns room that stays until Run has returned and
// after. Both are nil, which means memory, if the sketch fits into memory.
func (r *run) scratch(sk int) (room.Allocator, error) {
	n, err := r.needs(sk)
	if err != nil || !n.apart {
		return nil, err
	}
	if r.part == nil {
		r.part = r.Scratch.Part()
	}
	return r.part, nil
}

func (r *run) persistent(sk int) (room.Allocator, error) {
	n, err := r.needs(sk)
	if err != nil || !n.apart {
		return nil, err
	}
	return r.Scratch, nil
}

// clear frees the passing room.
func (r *run) clear() error {
	if r.part == nil {
		return nil
	}
	err := r.part.Close()
	if r.part = nil; err != nil {
		return &StoreError{err}
	}
	return nil
}

// brokenInput is an error of the run's input: it cannot be read or is malformed, so no analysis can
// be answered.
type brokenInput struct{ error }

func (b *brokenInput) Unwrap() error { return b.error }

// noAnswer says why the releases do not answer one analysis. It does not affect the others.
type noAnswer struct{ why string }

func (n *noAnswer) Error() string { return n.why }

// Fail returns the error of the catalogue.
func (n *noAnswer) Fail() *fail.Error { return fail.Unanswerable.Fail() }

// unanswerable returns a noAnswer with a message for people.
func unanswerable(format string, args ...any) error { return &noAnswer{fmt.Sprintf(format, args...)} }

func (r *run) answer(ctx context.Context, index int, a study.Analysis) (Analysis, error) {
	if err := ctx.Err(); err != nil {
		return Analysis{}, err
	}
	sk, ok := r.Study.SketchFor(a)
	if !ok {
		return Analysis{}, errors.New("no sketch of the study answers it")
	}
	if r.FirstOnly && r.Study.SecondRound(sk) {
		return Analysis{}, unanswerable("it needs the second round, of which too few releases arrived before the deadline")
	}
	if err := r.freeMemory(sk); err != nil {
		return Analysis{}, err
	}
	row, side := kindOf(a.Kind), r.Study.Sketches[sk].Side
	by := slices.IndexFunc(row.ways, func(w way) bool { return w.side == side })
	if by < 0 {
		return Analysis{}, fmt.Errorf("sketches of side %s do not answer %s", side, a.Kind)
	}
	out, err := r.once(index, sk, func() (Analysis, error) { return row.ways[by].answer(r, ctx, index, sk, a) })
	if row.uncut || side.Sums() {
		return out, err
	}
	if c, ok := r.merged[sk]; ok {
		out.Cut, out.Caution = c.cut, c.cut.caution(a.Kind)
	}
	if len(out.Assumptions) > 0 {
		out.Assumptions = append(r.restsOnCut(sk, out.Cut), out.Assumptions...)
		if r.Study.Records.Missing.Stays() {
			out.Assumptions = append(premise.List{premise.MissingIsCentre}, out.Assumptions...)
		}
	}
	return out, err
}

// freeMemory returns an error if a sketch needs more memory than allowed. If all sketches together
// need more, it drops what was merged of the others.
func (r *run) freeMemory(sk int) error {
	if r.Memory == 0 {
		return nil
	}
	records, all := r.records(), int64(0)
	for index := range r.Study.Sketches {
		n, err := r.needs(index)
		if err != nil {
			return err
		}
		takes := n.memory.of(records)
		if index == sk && takes > r.Memory {
			return unanswerable("%v", &QuotaError{Of: "the releases", What: onMemory, Needs: takes, Quota: r.Memory})
		}
		all = plus(all, takes)
	}
	if all > r.Memory {
		maps.DeleteFunc(r.gathered, func(index int, _ *points) bool { return index != sk })
		maps.DeleteFunc(r.merged, func(index int, _ columns) bool { return index != sk })
	}
	return nil
}

// promise records the level at which the count intervals hold, and returns the level for which each
// must be built.
func (a *Analysis) promise(asked study.Analysis, count int) estimate.Level {
	a.Level, a.Intervals = float64(estimate.DefaultLevel), asked.Intervals
	if asked.Intervals != study.IntervalsAll {
		return estimate.DefaultLevel
	}
	each := estimate.DefaultLevel.Bonferroni(count)
	a.EachLevel = float64(each)
	return each
}

// describe returns the result without its answers.
func (r *run) describe() (Result, error) {
	s := r.Study
	out := Result{
		Format: ResultFormat, Study: s.ID.String(), Name: s.Name, Completeness: Partial,
		Attempt: r.Attempt, T2: r.T2.String(), Partition: s.Partition,
		FirstOnly: r.FirstOnly, Parties: []Party{}, Absent: []string{}, Sketches: []Sketch{}, Analyses: []Analysis{},
	}
	if r.Complete {
		out.Completeness = Full
	}
	if s.Masked() {
		out.Masked = &MaskedSum{Members: len(r.Contributions), Colluding: s.Colluding}
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
	if g, err := s.Privacy.Guarantee(); err == nil && len(s.Sketches) > 1 && s.Privacy.Mechanism != dp.None {
		out.Promise = s.Together(g)
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
	plan, err := r.planned(r.Contributions[0].Party, index)
	if err != nil {
		return Sketch{}, err
	}
	part, err := s.Part(index)
	if err != nil {
		return Sketch{}, err
	}
	g := part.Stated()
	d := Sketch{
		Side: string(plan.Sketch().Side), Family: string(plan.Spec().Family), K: plan.Spec().K, S: plan.Spec().S, Bits: int(s.Bits),
		Unit: string(s.Privacy.Unit), Mechanism: string(g.Mechanism()), Epsilon: float64(g.Epsilon()), Delta: float64(g.Delta()),
		EpsilonPerParty: float64(s.Privacy.Epsilon), Statement: plan.Statement(), Labels: string(plan.Sketch().Labels),
	}
	if plan.Sketch().Side.Sums() {
		d.Family = "sums"
	}
	if g.Mechanism() == dp.None {
		return d, nil
	}
	person, err := s.PerPerson()
	if err != nil {
		return Sketch{}, err
	}
	if e := float64(person.Epsilon); !math.IsInf(e, 0) {
		d.EpsilonPerPerson = &e
	}
	return d, nil
}
