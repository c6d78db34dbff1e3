package analysis

import (
	"context"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// kind describes how one kind of analysis is answered. Each is declared beside the code that
// answers it.
type kind struct {
	name study.AnalysisKind
	ways []way
	// intervals returns the number of intervals of an analysis of about so many values and parties;
	// nil: one for each pair of values.
	intervals func(values, parties int) int
	// shortened ends the caution that says how many records were longer than the clip; empty: the
	// usual ending.
	shortened string
	// ofTail: its intervals allow for what whole records would give. givesBack: it adds half of
	// that.
	ofTail, givesBack bool
	// uncut: its answer is not affected by missing or shortened values.
	uncut bool

	size   func(t *taken) Size      // approximate size of its answer, beside its features; nil: nothing
	most   func(t *taken) int64     // largest size in a document; nil: that of every answer
	refuse func(n int) string       // why so many values cannot be answered, or ""; nil: any number can
	told   func(study.Analysis) int // number of columns in a party's own document; nil: 2
	// record returns roughly how many bytes on the disk it needs per record of k coordinates,
	// beside the coordinates: takes until it is answered, stays until all analyses are; nil: none.
	record func(a study.Analysis, k int64) (takes, stays int64)
	// matrices is how many matrices of all columns it makes of their products, in memory.
	matrices int64
	// asked are options of a further analysis that need at least as much as any sensible ones; nil:
	// the defaults do.
	asked study.Options
}

// way is how a kind is answered from sketches of one side.
type way struct {
	side   sketch.Side
	answer func(r *run, ctx context.Context, index, sk int, a study.Analysis) (Analysis, error)
}

// kindOf returns the kind of this name; the zero kind if it is unknown.
func kindOf(name study.AnalysisKind) kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i]
	}
	return kind{}
}

// Intervals returns the number of intervals of an analysis of about so many columns of values and
// parties in all.
func Intervals(name study.AnalysisKind, values, parties int) int {
	if of := kindOf(name).intervals; of != nil {
		return of(values, parties)
	}
	return values * (values - 1) / 2
}

// onColumns answers from the products of columns.
func onColumns(answer func(c *columns, ctx context.Context, a study.Analysis, out *Analysis) error) way {
	return way{sketch.Columns, func(r *run, ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
		c, err := r.columns(ctx, sk)
		if err != nil {
			return Analysis{}, err
		}
		out := Analysis{Kind: a.Kind, Sketch: sk}
		c.tell, c.keep = r.observer(index, a.Kind), r.Keep
		c.level = out.promise(a, Intervals(a.Kind, len(c.variables()), len(c.groups)))
		return out, answer(&c, ctx, a, &out)
	}}
}

// onRecords answers from the sketches of single records.
func onRecords(answer func(r *run, ctx context.Context, index, sk int, a study.Analysis) (Analysis, error)) way {
	return way{sketch.Records, answer}
}

// onMoments answers from the means and second moments of the union.
func onMoments(answer func(m *moments, ctx context.Context, a study.Analysis, out *Analysis) error) way {
	return way{sketch.Moments, func(r *run, ctx context.Context, index, sk int, a study.Analysis) (Analysis, error) {
		m, err := r.moments(sk)
		if err != nil {
			return Analysis{}, err
		}
		if m.drawnAs, err = r.spread(m); err != nil {
			return Analysis{}, err
		}
		out := Analysis{Kind: a.Kind, Sketch: sk, Caution: m.cut.caution(a.Kind), Assumptions: m.rests(a.Kind), Cut: m.cut}
		for i := range m.plan.Features {
			out.Features = append(out.Features, m.name(i))
		}
		m.tell = r.observer(index, a.Kind)
		m.level = out.promise(a, Intervals(a.Kind, len(out.Features), 1))
		return out, answer(m, ctx, a, &out)
	}}
}
