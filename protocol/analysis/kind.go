package analysis

import (
	"context"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// kind is how one kind of analysis is answered. Each stands beside what answers it.
type kind struct {
	name study.AnalysisKind
	ways []way
	// intervals is how many a column's number and another's have, about so many values and parties; nil: one
	// for each pair of values.
	intervals func(values, parties int) int
	// shortened goes on, in a caution, after how many records were longer than the clip; empty: as of most.
	shortened string
	// ofTail: its intervals allow for what whole records would give; givesBack: it adds half of that.
	ofTail, givesBack bool
	// uncut is about something of which nothing is missing or cut.
	uncut bool

	size   func(t *taken) Size      // what its answer takes, about, beside its features; nil: nothing
	most   func(t *taken) int64     // what it takes of a document at the most; nil: what every answer does
	refuse func(n int) string       // why so many values have no answer, or ""; nil: any have
	told   func(study.Analysis) int // columns of a party's own document; nil: 2
	// record is about how many bytes it takes of each record of k coordinates, beside these, where they lie on the
	// disk: until it is answered, and until all are; nil: none.
	record func(a study.Analysis, k int64) (takes, stays int64)
	// matrices are those of all columns that it makes of their products, in memory.
	matrices int64
	// asked is a question after the study's own that takes at least as much as any of sense; nil: such as
	// its defaults.
	asked study.Options
}

// way is how a kind is answered from sketches of one side.
type way struct {
	side   sketch.Side
	answer func(r *run, ctx context.Context, index, sk int, a study.Analysis) (Analysis, error)
}

// kindOf returns the row of a kind; that of an unknown one is empty.
func kindOf(name study.AnalysisKind) kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i]
	}
	return kind{}
}

// Intervals is how many intervals an analysis has, about so many columns of values and
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
		out := Analysis{Kind: a.Kind, Sketch: sk, Caution: m.cut.caution(a.Kind), Rests: m.rests(a.Kind), Cut: m.cut}
		for i := range m.plan.Features {
			out.Features = append(out.Features, m.name(i))
		}
		m.tell = r.observer(index, a.Kind)
		m.level = out.promise(a, Intervals(a.Kind, len(out.Features), 1))
		return out, answer(m, ctx, a, &out)
	}}
}
