package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
	"github.com/cosketch/cosketch/seed"
)

// plan is a plan under test.
type plan struct{ release.Plan }

// pair is a record's encoded values in two neighbouring data sets. Nil stands for a contribution of
// zeros; where records are summed, for no record.
type pair struct{ without, with []int64 }

func (p plan) bare() plan { return plan{p.WithoutResponse()} }

// alone returns the exact sketch of one record.
func (p plan) alone(root seed.Seed, id []byte, values []int64) ([]int64, error) {
	p = p.bare()
	b, err := p.NewBuilder(root, 1)
	if err != nil {
		return nil, err
	}
	switch {
	case values != nil:
		err = b.Add([][]byte{id}, values)
	case p.Sketch().Side == sketch.Records:
		err = b.Add([][]byte{id}, make([]int64, p.Values))
	}
	if err != nil {
		return nil, err
	}
	return b.Exact().Sketch.Data, nil
}

// footprint lists the non-zeros of a record's row of R on the columns side. It finds them in an
// ordinary sketch of one value of one record.
func (p plan) footprint(root seed.Seed, id []byte) ([]int, error) {
	column, err := plan{p.OneValue()}.alone(root, id, []int64{p.Study.Bits.One()})
	if err != nil {
		return nil, err
	}
	var out []int
	for i, v := range column {
		if v != 0 {
			out = append(out, i)
		}
	}
	return out, nil
}

// moved returns the exact sketches of a record in both data sets, and their difference.
func (p plan) moved(root seed.Seed, id []byte, change pair) (base, delta []int64, err error) {
	if base, err = p.alone(root, id, change.without); err != nil {
		return nil, nil, err
	}
	if delta, err = p.alone(root, id, change.with); err != nil {
		return nil, nil, err
	}
	for i := range delta {
		delta[i] -= base[i]
	}
	return base, delta, nil
}

func normsOf(delta []int64) (s dp.Sensitivity) {
	for _, d := range delta {
		s.L1 += max(d, -d)
		s.L2Squared += d * d
	}
	return s
}

// size returns the norm that the plan's noise covers, squared for gaussian noise.
func (p plan) size(s dp.Sensitivity) int64 {
	if p.Noise.Guarantee().Mechanism() == dp.Gaussian {
		return s.L2Squared
	}
	return s.L1
}

// first returns the index of a column's first value in a record, and its number of values.
func (p plan) first(column int) (at, n int) {
	for i, f := range p.Features[:p.Values] {
		if f.Column == column {
			if n == 0 {
				at = i
			}
			n++
		}
	}
	return at, n
}

// extremes returns changes of a column's value from one end to the other. With squares, a change
// from the middle of the lower half is worse in l1: see changes in package release.
func (p plan) extremes(column int) []pair {
	one := p.Study.Bits.One()
	c := p.Study.Columns[column]
	if c.Kind == study.Categorical {
		from, to := make([]int64, len(c.Values)), make([]int64, len(c.Values))
		from[0], to[1] = one, one
		return []pair{{from, to}}
	}
	low := one - c.Scale.Range(p.Study.Bits)
	out := []pair{{[]int64{low}, []int64{one}}}
	if low < 0 && p.Sketch().Helpers.Squares {
		out = append(out, pair{[]int64{-one / 2}, []int64{one}})
	}
	return out
}

// furthest returns the change of one column's value that moves the features furthest, and how far,
// in the norm of size.
func (p plan) furthest(column int) (worst pair, most int64) {
	bits := p.Study.Bits
	at, _ := p.first(column)
	centre := p.Centre(p.Features[at])
	for _, e := range p.extremes(column) {
		var deltas []int64
		for i := range e.with {
			deltas = append(deltas, e.with[i]-e.without[i])
			if p.Sketch().Helpers.Squares {
				deltas = append(deltas, fixedpoint.Square(e.with[i]-centre, bits)-fixedpoint.Square(e.without[i]-centre, bits))
			}
		}
		if s := p.size(normsOf(deltas)); s > most {
			worst, most = e, s
		}
	}
	return worst, most
}

// widest lists the sketch's columns worth trying, those whose values can change most first. R's
// rows have equal length, so the first is among the worst.
func (p plan) widest() []int {
	out := p.Columns()
	slices.SortStableFunc(out, func(a, b int) int {
		_, x := p.furthest(a)
		_, y := p.furthest(b)
		return cmp.Compare(y, x)
	})
	return out[:min(len(out), 256)]
}

// attributePair returns a pair of records that differ in every column as far as possible. For the
// attribute of one column, take the values of that column only.
func (p plan) attributePair() pair {
	out := pair{make([]int64, p.Values), make([]int64, p.Values)}
	for _, c := range p.Columns() {
		at, _ := p.first(c)
		e, _ := p.furthest(c)
		copy(out.without[at:], e.without)
		copy(out.with[at:], e.with)
	}
	return out
}

// only returns the pair restricted to a difference in one column.
func (p plan) only(change pair, column int) pair {
	at, n := p.first(column)
	with := append([]int64(nil), change.without...)
	copy(with[at:at+n], change.with[at:])
	return pair{change.without, with}
}

// extremeRecord draws a record with every value at an end of its range.
func (p plan) extremeRecord(g *dp.Generator) []int64 {
	out := make([]int64, p.Values)
	for _, c := range p.Columns() {
		at, n := p.first(c)
		one := p.Study.Bits.One()
		switch column := p.Study.Columns[c]; {
		case column.Kind == study.Categorical:
			out[at+int(g.Uint64N(uint64(n)))] = one
		case g.Uint64()&1 == 0:
			out[at] = one - column.Scale.Range(p.Study.Bits)
		default:
			out[at] = one
		}
	}
	return out
}

// Limits on the search for the worst change.
const (
	candidates = 16      // extreme records tried
	searched   = 1 << 28 // limit on the entries of their sketches; at least two are tried
)

// Realise searches for the change of the study's unit that moves the exact sketch under this R
// furthest. It tries every attribute from one end to the other, or extreme records of all kinds,
// through the pipeline that makes releases. If it finds more than the plan's Sensitivity, the plan
// is wrong.
func Realise(of release.Plan, root seed.Seed, g *dp.Generator) (dp.Sensitivity, error) {
	_, realised, err := plan{of}.worst(root, g)
	if err != nil {
		return dp.Sensitivity{}, fmt.Errorf("searching for the sensitivity of sketch %d: %w", of.Index+1, err)
	}
	return realised, nil
}

// worst also returns the change that moved the sketch furthest.
func (p plan) worst(root seed.Seed, g *dp.Generator) (furthest pair, realised dp.Sensitivity, err error) {
	var most int64 = -1
	note := func(change pair, delta []int64) {
		moved := normsOf(delta)
		realised = dp.Max(realised, moved)
		if s := p.size(moved); s > most {
			furthest, most = change, s
		}
	}
	columns := p.Sketch().Side == sketch.Columns
	switch attribute := p.Study.Privacy.Unit == dp.Attribute; {
	case attribute && columns:
		all := p.attributePair()
		_, delta, err := p.moved(root, canaryID(0), all)
		if err != nil {
			return pair{}, dp.Sensitivity{}, err
		}
		parts := p.byColumn(delta)
		for _, c := range p.widest() {
			note(p.only(all, c), parts[c])
		}
		return furthest, realised, nil
	case attribute:
		all := p.attributePair()
		var changes []pair
		for _, c := range p.widest() {
			changes = append(changes, p.only(all, c))
		}
		return furthest, realised, p.eachRow(root, changes, note)
	case p.Sketch().Side == sketch.Records:
		return furthest, realised, p.eachRow(root, p.recordChanges(g, candidates), note)
	}
	rows, cols := p.Shape(1)
	changes := p.recordChanges(g, max(2, int(min(candidates, searched/(rows*cols)))))
	if row, ok := sum.RowOf(p.Sketch().Side); ok {
		for _, change := range row.Extremes(p.Study, p.Index) {
			changes = append(changes, pair{change.Without, change.With})
		}
	}
	if p.Study.CountsAbsent(p.Index) {
		changes = append(changes, p.withAbsent(changes, g)...)
	}
	for i, change := range changes {
		_, delta, err := p.moved(root, canaryID(i), change)
		if err != nil {
			return pair{}, dp.Sensitivity{}, err
		}
		note(change, delta)
	}
	return furthest, realised, nil
}

// byColumn splits a columns-side difference by the study's column that each entry derives from. It
// omits ones, which do not change.
func (p plan) byColumn(delta []int64) map[int][]int64 {
	out := map[int][]int64{}
	for i, d := range delta {
		if c := p.Features[i%len(p.Features)].Column; c >= 0 {
			out[c] = append(out[c], d)
		}
	}
	return out
}

// rowsAtOnce bounds how many records are sketched together in a search.
const rowsAtOnce = 64

// eachRow sketches records of the records side in both states and passes the difference of their
// rows to take.
func (p plan) eachRow(root seed.Seed, changes []pair, take func(pair, []int64)) error {
	b, err := p.bare().NewBuilder(root, 1) // Exact leaves the builder without records
	if err != nil {
		return err
	}
	for from := 0; from < len(changes); from += rowsAtOnce {
		some := changes[from:min(from+rowsAtOnce, len(changes))]
		var ids [][]byte
		var values []int64
		for i, c := range some {
			ids = append(ids, canaryID(2*i), canaryID(2*i+1))
			for _, state := range [][]int64{c.without, c.with} {
				if state == nil {
					state = make([]int64, p.Values)
				}
				values = append(values, state...)
			}
		}
		if err := b.Add(ids, values); err != nil {
			return err
		}
		rows := b.Exact().Sketch
		for i, c := range some {
			delta := append([]int64(nil), rows.Row(2*i+1)...)
			for j, v := range rows.Row(2 * i) {
				delta[j] -= v
			}
			take(c, delta)
		}
	}
	return nil
}

// recordChanges draws extreme records that replace zeros or, in a study with replaced records,
// other extreme records.
func (p plan) recordChanges(g *dp.Generator, n int) []pair {
	var out []pair
	var before []int64
	for range n {
		record := p.extremeRecord(g)
		out = append(out, pair{nil, record})
		if p.Study.Privacy.Replaced {
			out = append(out, pair{p.opposite(record), record}, pair{before, record})
		}
		before = record
	}
	return out
}

// opposite returns a record with every number at the other end of its range, and every category
// replaced by the next one.
func (p plan) opposite(record []int64) []int64 {
	out := make([]int64, len(record))
	for _, c := range p.Columns() {
		at, n := p.first(c)
		column := p.Study.Columns[c]
		if column.Kind != study.Categorical {
			one := p.Study.Bits.One()
			out[at] = 2*one - column.Scale.Range(p.Study.Bits) - record[at]
			continue
		}
		for i := range n {
			out[at+(i+1)%n] = record[at+i]
		}
	}
	return out
}

// withAbsent removes random values from a random half of the records of changes.
func (p plan) withAbsent(changes []pair, g *dp.Generator) (out []pair) {
	of := func(record []int64) []int64 {
		if record == nil || g.Uint64()&1 == 0 {
			return record
		}
		record = append([]int64(nil), record...)
		for _, c := range p.Columns() {
			if g.Uint64()&1 == 0 {
				continue
			}
			at, n := p.first(c)
			for i := range n {
				record[at+i] = sketch.Absent
			}
		}
		return record
	}
	for _, c := range changes {
		out = append(out, pair{of(c.without), of(c.with)})
	}
	return out
}

func canaryID(i int) []byte { return fmt.Appendf(nil, "canary %d", i) }
