package analysis

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// Sums is the section of sums and means of columns, in original units.
//
//section:sums of sums
type Sums struct {
	Rows []SumRow `json:"rows" by:"-"` // one per column and set of records
}

// SumRow is a column over the records that its party shares with another party, or over all of its
// own.
type SumRow struct {
	Feature int    `json:"feature" of:"features"` // the column
	Over    string `json:"over,omitempty"`        // the other party, or the column's own; empty for the union
	Sum     Number `json:"sum"`                   // sum over these records
	Mean    Number `json:"mean"`                  // mean over these records
}

func (s *Sums) check(a Analysis) error {
	for i, r := range s.Rows {
		if r.Feature < 0 || r.Feature >= len(a.Features) {
			return fmt.Errorf("row %d of feature %d of %d", i+1, r.Feature, len(a.Features))
		}
		for _, n := range []Number{r.Sum, r.Mean} {
			if err := n.check(); err != nil {
				return fmt.Errorf("row %d: %w", i+1, err)
			}
		}
	}
	return nil
}

func (s *Sums) names(n named) error {
	for _, row := range s.Rows {
		if row.Over == "" {
			continue
		}
		if err := n.party(row.Over); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sums) people() (out []Number) {
	for _, row := range s.Rows {
		out = append(out, row.Sum, row.Mean)
	}
	return out
}

// sums answers sums and means of every column over the records shared with each party.
func (c *columns) sums(ctx context.Context, a study.Analysis, out *Analysis) error {
	vars := c.variables()
	located := c.located(vars)
	out.Units, out.Assumptions = measure.Original, premise.List{premise.SharedNumbers}
	if c.union() {
		out.Assumptions = premise.List{premise.NumbersOfUnion}
	}
	c.level = out.promise(a, 2*len(vars)*len(c.groups))
	section := &Sums{}
	drawn, err := c.draw(ctx, vars, located)
	if err != nil {
		return err
	}
	whole := c.gram != nil
	for i, v := range vars {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !whole && i%atOnce == 0 {
			c.gram = nil
			if err := c.reach(ctx, vars[i:min(i+atOnce, len(vars))]); err != nil {
				return err
			}
		}
		out.Features = append(out.Features, c.name(v))
		combination, _ := c.original(v)
		unit, origin := c.unit(v), c.origin(v)
		for at, g := range c.groups {
			over, _ := c.ones(g)
			mean := drawn.mean(c.gram.Mean(located[i], over, c.level), i, at).Times(unit).Plus(origin)
			of := c.gram.Sum(combination, over, c.level)
			if v.group.own != nil && g.first == v.group.first {
				of = c.gram.Mean(located[i], over, c.level).Times(unit).Plus(origin).Times(float64(g.records))
			}
			sum := drawn.sum(of, i, at, unit)
			section.Rows = append(section.Rows, SumRow{Feature: i, Over: g.party, Sum: number(sum), Mean: number(mean)})
		}
	}
	out.Sums = section
	return nil
}

func ofSums() kind {
	return kind{
		name: study.Sums, ways: []way{onColumns((*columns).sums)},
		size: func(t *taken) Size { return numbers(2 * t.values * t.parties) },
		most: func(t *taken) int64 { return mostNumbers(2, t.values, t.parties) },
	}
}
