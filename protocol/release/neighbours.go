package release

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// pair are a record's encoded values in two neighbouring data sets. Nil stands for a
// contribution of zeros: on the columns side no record at all.
type pair struct{ without, with []int64 }

// bare is the plan without randomised response, whose exact sketches can be compared.
func (p Plan) bare() Plan {
	p.Flips = dp.Flips{}
	return p
}

// alone returns the exact sketch of one record.
func (p Plan) alone(root seed.Seed, id []byte, values []int64) ([]int64, error) {
	p = p.bare()
	b, err := p.NewBuilder(root, 1)
	if err != nil {
		return nil, err
	}
	switch columns := p.Sketch().Side == sketch.Columns; {
	case values != nil:
		err = b.Add([][]byte{id}, values)
	case !columns:
		err = b.Add([][]byte{id}, make([]int64, p.Values))
	}
	if err != nil {
		return nil, err
	}
	if b.columns != nil {
		return b.columns.Sketch().Data, nil
	}
	return b.records.Sketch().Data, nil
}

// moved returns the exact sketches of a record in both data sets, and their difference.
func (p Plan) moved(root seed.Seed, id []byte, change pair) (base, delta []int64, err error) {
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

// size is the norm that the plan's noise covers.
func (p Plan) size(s dp.Sensitivity) int64 {
	if p.Noise.Guarantee().Mechanism() == dp.Gaussian {
		return s.L2Squared
	}
	return s.L1
}

// first returns the place of a column's first value in a record, and how many it has.
func (p Plan) first(column int) (at, n int) {
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

// extremes are a column's values from one end to the other. Squares make a change from
// the middle of the lower half worse in l1: see changes.
func (p Plan) extremes(column int) []pair {
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

// furthest is the change of one column's value that moves the features furthest.
func (p Plan) furthest(column int) pair {
	var worst pair
	var most int64
	for _, e := range p.extremes(column) {
		var deltas []int64
		for i := range e.with {
			deltas = append(deltas, e.with[i]-e.without[i])
			if p.Sketch().Helpers.Squares {
				deltas = append(deltas, fixedpoint.Square(e.with[i], p.Study.Bits)-fixedpoint.Square(e.without[i], p.Study.Bits))
			}
		}
		if s := p.size(normsOf(deltas)); s > most {
			worst, most = e, s
		}
	}
	return worst
}

// attributePair is a pair of records that differ in every column as far as they can: for
// the attribute of a column, take its values alone.
func (p Plan) attributePair() pair {
	out := pair{make([]int64, p.Values), make([]int64, p.Values)}
	for _, c := range p.attributes() {
		at, _ := p.first(c)
		e := p.furthest(c)
		copy(out.without[at:], e.without)
		copy(out.with[at:], e.with)
	}
	return out
}

// only is the pair that differs in one column alone.
func (p Plan) only(change pair, column int) pair {
	at, n := p.first(column)
	with := append([]int64(nil), change.without...)
	copy(with[at:at+n], change.with[at:])
	return pair{change.without, with}
}

// extremeRecord draws a record of which every value is at an end of its range.
func (p Plan) extremeRecord(g *dp.Generator) []int64 {
	out := make([]int64, p.Values)
	for _, c := range p.attributes() {
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

// candidates is how many extreme records are tried.
const candidates = 16

// Realise searches for the change of the study's unit that moves the exact sketch under
// this R furthest: every attribute from one end to the other, or extreme records of all
// kinds, through the pipeline that makes releases. What it finds is at most the plan's
// Sensitivity, or the plan is wrong.
func (p Plan) Realise(root seed.Seed, g *dp.Generator) (dp.Sensitivity, error) {
	_, realised, err := p.worst(root, g)
	if err != nil {
		return dp.Sensitivity{}, fmt.Errorf("searching for the sensitivity of sketch %d: %w", p.Index, err)
	}
	return realised, nil
}

// worst also returns the record that moved the sketch furthest.
func (p Plan) worst(root seed.Seed, g *dp.Generator) (furthest pair, realised dp.Sensitivity, err error) {
	var most int64 = -1
	try := func(change pair) error {
		_, delta, err := p.moved(root, canaryID(int(g.Uint64N(1<<32))), change)
		if err != nil {
			return err
		}
		moved := normsOf(delta)
		realised = dp.Max(realised, moved)
		if s := p.size(moved); s > most {
			furthest, most = change, s
		}
		return nil
	}
	if p.Study.Privacy.Unit == dp.Attribute {
		all := p.attributePair()
		for _, c := range p.attributes() {
			if err := try(p.only(all, c)); err != nil {
				return pair{}, dp.Sensitivity{}, err
			}
		}
		return furthest, realised, nil
	}
	var before []int64
	for range candidates {
		record := p.extremeRecord(g)
		changes := []pair{{nil, record}}
		if p.Study.Privacy.Replaced {
			changes = append(changes, pair{p.opposite(record), record}, pair{before, record})
		}
		for _, change := range changes {
			if err := try(change); err != nil {
				return pair{}, dp.Sensitivity{}, err
			}
		}
		before = record
	}
	return furthest, realised, nil
}

// opposite is a record with every number at the other end of its range, and every
// category the next one.
func (p Plan) opposite(record []int64) []int64 {
	out := make([]int64, len(record))
	for _, c := range p.attributes() {
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

func canaryID(i int) []byte { return fmt.Appendf(nil, "canary %d", i) }
