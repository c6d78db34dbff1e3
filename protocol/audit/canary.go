package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/sum"
	"github.com/cosketch/cosketch/seed"
)

// A canary is a change of the study's unit whose traces in a release overlap with no other
// canary's, so that each is a separate trial. On the records side it is a row. On the columns side
// it is a record whose non-zeros in R overlap with no other record's; under unit attribute, each
// column of such a record.
type canary struct {
	record  int // index into canaries.ids
	change  pair
	column  int     // unit attribute: which value changes; -1: the whole record
	places  []int   // entries that the change moves (columns side: of the whole sketch; records side: of the row)
	base    []int64 // their values without the change
	delta   []int64 // what the change adds
	inEntry bool    // places are indices within the record's row
}

type canaries struct {
	plan plan
	root seed.Seed
	ids  [][]byte
	all  []canary
}

// Limits on the canaries of one release, and on the numbers searched to find records for them.
const (
	mostRows    = 512  // records side
	mostRecords = 2048 // columns side
	lookedAt    = 1 << 30
)

// newCanaries lays out canaries for the worst change of the plan.
func newCanaries(p plan, root seed.Seed, g *dp.Generator) (*canaries, error) {
	change, _, err := p.worst(root, g)
	if err != nil {
		return nil, err
	}
	c := &canaries{plan: p, root: root}
	switch side := p.Sketch().Side; {
	case side == sketch.Records:
		return c, c.layRows(change)
	case side.Sums():
		return c, c.laySums(change, g)
	}
	if p.Study.Privacy.Unit == dp.Attribute {
		change = p.attributePair()
	}
	return c, c.layRecords(change)
}

// layRows gives each canary a row. R's rows belong to columns, so all canaries are alike.
func (c *canaries) layRows(change pair) error {
	base, delta, err := c.plan.moved(c.root, canaryID(0), change)
	if err != nil {
		return err
	}
	one := canary{change: change, column: -1, inEntry: true}
	for i, d := range delta {
		if d != 0 {
			one.places, one.base, one.delta = append(one.places, i), append(one.base, base[i]), append(one.delta, d)
		}
	}
	for i := range mostRows {
		one.record = i
		c.ids, c.all = append(c.ids, canaryID(i)), append(c.all, one)
	}
	return nil
}

// mostCells limits the search for canaries in the entries of one release.
const mostCells = 256

// laySums places one canary in a sketch of which every record moves all entries. In other sketches
// it looks for one canary in each entry, or pair of entries.
func (c *canaries) laySums(worst pair, g *dp.Generator) error {
	changes := []pair{worst}
	row, _ := sum.RowOf(c.plan.Sketch().Side)
	apart := row.DisjointEntries(c.plan.Study, c.plan.Index)
	if apart > 0 {
		changes = append(changes, c.plan.recordChanges(g, mostCells)...)
	}
	taken := map[int]bool{}
	var most int64
	for i, change := range changes {
		base, delta, err := c.plan.moved(c.root, canaryID(i), change)
		if err != nil {
			return err
		}
		one := canary{record: len(c.ids), change: change, column: -1}
		size := c.plan.size(normsOf(delta))
		if i > 0 {
			base, delta = base[:apart], delta[:apart]
		}
		meets := false
		for at, d := range delta {
			if d != 0 {
				one.places, one.base, one.delta = append(one.places, at), append(one.base, base[at]), append(one.delta, d)
			}
			meets = meets || taken[at] && (d != 0 || base[at] != 0)
		}
		if i == 0 {
			most = size
		}
		// The size need only be nearly that of the worst: clipping rounds corners a little
		// differently.
		if meets || float64(size) < 0.98*float64(most) {
			continue
		}
		for at, d := range delta {
			if d != 0 || base[at] != 0 {
				taken[at] = true
			}
		}
		c.ids, c.all = append(c.ids, canaryID(i)), append(c.all, one)
	}
	return nil
}

// layRecords looks for records whose rows of R do not overlap, and sketches all of them in both
// states.
func (c *canaries) layRecords(change pair) error {
	k := c.plan.Spec().K
	taken := make([]bool, k)
	var rows [][]int // by record
	for n := 0; n < 4*mostRecords && n < max(4, lookedAt/k) && len(c.ids) < mostRecords; n++ {
		own, err := c.plan.footprint(c.root, canaryID(n))
		if err != nil {
			return err
		}
		if len(own) == 0 || slices.ContainsFunc(own, func(i int) bool { return taken[i] }) {
			if len(own) > k/4 {
				break // rows with few zeros leave room for one record only
			}
			continue
		}
		for _, i := range own {
			taken[i] = true
		}
		c.ids, rows = append(c.ids, canaryID(n)), append(rows, own)
	}
	states := map[bool][]int64{}
	for _, with := range []bool{false, true} {
		state := change.without
		if with {
			state = change.with
		}
		b, err := c.plan.bare().NewBuilder(c.root, 1)
		if err != nil {
			return err
		}
		if state != nil {
			if err := b.Add(c.ids, slices.Repeat(state, len(c.ids))); err != nil {
				return err
			}
		}
		states[with] = b.Exact().Sketch.Data
	}
	for record, own := range rows {
		c.lay(record, change, own, states)
	}
	return nil
}

// lay adds a record's canaries: one under unit record; under unit attribute one for each column
// whose change is as large as the largest.
func (c *canaries) lay(record int, change pair, rows []int, states map[bool][]int64) {
	p := c.plan
	columns := []int{-1}
	if p.Study.Privacy.Unit == dp.Attribute {
		columns = p.Columns()
	}
	var most int64
	var laid []canary
	for _, column := range columns {
		one := canary{record: record, change: change, column: column}
		for _, row := range rows {
			for j, f := range p.Features {
				at := row*len(p.Features) + j
				base := states[false][at]
				if d := states[true][at] - base; d != 0 && (column < 0 || f.Column == column) {
					one.places, one.base, one.delta = append(one.places, at), append(one.base, base), append(one.delta, d)
				}
			}
		}
		most = max(most, p.size(normsOf(one.delta)))
		laid = append(laid, one)
	}
	for _, one := range laid {
		if p.size(normsOf(one.delta)) == most {
			c.all = append(c.all, one)
		}
	}
}

// copies returns how many releases of one exact sketch are noised at once: for a small sketch,
// making a sampler's tables takes longer than drawing the noise. It is 1 if the exact sketch itself
// is random, by flips or by its order.
func (c *canaries) copies() int {
	if !c.plan.Flips.Zero() || c.plan.Sketch().Side == sketch.Records {
		return 1
	}
	rows, cols := c.plan.Shape(int64(len(c.ids)))
	return int(max(noisedAtOnce/(rows*cols), 1))
}

// noisedAtOnce is the number of entries to noise in one call, if one release has fewer.
const noisedAtOnce = 1 << 13

// releases makes releases as a party does, with every canary in one of its two states, and returns
// what the aggregator decodes, with the records in their original order. The copies differ only in
// their noise.
func (c *canaries) releases(copies int, with func(canary int) bool, entropy io.Reader) ([]sketch.Sketch, error) {
	b, err := c.plan.NewBuilder(c.root, 1)
	if err != nil {
		return nil, err
	}
	if err := b.Randomise(entropy); err != nil {
		return nil, err
	}
	ids, values := c.records(with)
	if err := b.Add(ids, values); err != nil {
		return nil, err
	}
	exact, err := b.Finish(entropy)
	if err != nil {
		return nil, err
	}
	size := len(exact.Sketch.Data)
	noised := slices.Repeat(exact.Sketch.Data, copies)
	seen := sketch.Sketch{Data: noised}
	if err := c.plan.DrawSeen(&seen, entropy, 1); err != nil {
		return nil, err
	}
	var out []sketch.Sketch
	for data := range slices.Chunk(noised, size) {
		one := exact
		one.Sketch.Data = data
		got, err := shipped(one)
		if err != nil {
			return nil, err
		}
		out = append(out, got)
	}
	return out, nil
}

// shipped returns what the aggregator decodes of a noised sketch, with the records in their
// original order.
func shipped(out release.Exact) (sketch.Sketch, error) {
	header, data, err := out.Encode()
	if err != nil {
		return sketch.Sketch{}, err
	}
	got, err := release.Decode(header, bytes.NewReader(data))
	if err != nil || out.Order == nil {
		return got, err
	}
	inOrder := got
	inOrder.Data = make([]int64, len(got.Data))
	for row, record := range out.Order {
		copy(inOrder.Row(record), got.Row(row))
	}
	return inOrder, nil
}

// records returns the data of a release.
func (c *canaries) records(with func(canary int) bool) (ids [][]byte, values []int64) {
	states := make([][]int64, len(c.ids))
	for i, one := range c.all {
		state := &states[one.record]
		switch {
		case one.column < 0 && with(i):
			*state = one.change.with
		case one.column < 0:
			*state = one.change.without
		default:
			if *state == nil {
				*state = append([]int64(nil), one.change.without...)
			}
			if at, n := c.plan.first(one.column); with(i) {
				copy((*state)[at:at+n], one.change.with[at:])
			}
		}
	}
	for i, state := range states {
		if state == nil && c.plan.Sketch().Side == sketch.Records {
			state = make([]int64, c.plan.Values) // a row of zeros
		}
		if state != nil {
			ids, values = append(ids, c.ids[i]), append(values, state...)
		}
	}
	return ids, values
}

// score scores a canary's entries in a release against their values without the change.
func (c *canaries) score(one canary, got sketch.Sketch) float64 {
	return c.scoreOf(one, c.noise(one, got))
}

// noise returns a canary's entries in a release minus their values without the change.
func (c *canaries) noise(one canary, got sketch.Sketch) []int64 {
	row := got.Data
	if one.inEntry {
		row = got.Row(one.record)
	}
	noise := make([]int64, len(one.places))
	for i, at := range one.places {
		noise[i] = row[at] - one.base[i]
	}
	return noise
}

func (c *canaries) scoreOf(one canary, noise []int64) float64 {
	if c.plan.Noise.Guarantee().Mechanism() == dp.Laplace {
		return audit.LaplaceScore(noise, one.delta)
	}
	return audit.GaussianScore(noise, one.delta)
}

// trials runs releases until there are n scores under each of the two states. A canary changes its
// state every round, and its neighbour has the opposite state. weak has the scores of the same
// releases with half of their noise.
func (c *canaries) trials(ctx context.Context, n int, entropy io.Reader) (out, weak audit.Trials, err error) {
	for r := 0; len(out.With) < n || len(out.Without) < n; r++ {
		if err := ctx.Err(); err != nil {
			return out, weak, err
		}
		with := func(i int) bool { return (i+r)%2 == 0 }
		all, err := c.releases(c.copies(), with, entropy)
		if err != nil {
			return out, weak, fmt.Errorf("release %d of an audit: %w", r+1, err)
		}
		for _, got := range all {
			for i, one := range c.all {
				noise := c.noise(one, got)
				score, half := c.scoreOf(one, noise), c.scoreOf(one, audit.Halved(noise, one.delta, with(i)))
				if with(i) {
					out.With, weak.With = append(out.With, score), append(weak.With, half)
				} else {
					out.Without, weak.Without = append(out.Without, score), append(weak.Without, half)
				}
			}
		}
	}
	return out, weak, nil
}

// oneRun makes one release with each canary included by a fair coin, and guesses the coins of the
// half of them with the clearest scores.
func (c *canaries) oneRun(coins *dp.Generator, entropy io.Reader) (OneRun, error) {
	in := make([]bool, len(c.all))
	for i := range in {
		in[i] = coins.Uint64N(2) == 1
	}
	all, err := c.releases(1, func(i int) bool { return in[i] }, entropy)
	if err != nil {
		return OneRun{}, err
	}
	got := all[0]
	type guess struct {
		lean  float64 // positive: towards in
		right bool
	}
	var guesses []guess
	for i, one := range c.all {
		lean := c.score(one, got)
		if c.plan.Noise.Guarantee().Mechanism() == dp.Gaussian { // the score's mean is |delta|² with the change, 0 without
			lean -= float64(normsOf(one.delta).L2Squared) / 2
		}
		guesses = append(guesses, guess{lean, lean > 0 == in[i]})
	}
	slices.SortFunc(guesses, func(a, b guess) int { return cmp.Compare(math.Abs(b.lean), math.Abs(a.lean)) })
	out := OneRun{Guesses: audit.Guesses{Canaries: len(guesses), Made: max(1, len(guesses)/2)}}
	for _, g := range guesses[:out.Made] {
		if g.right {
			out.Right++
		}
	}
	out.Found, err = audit.OneRun(out.Guesses, c.plan.Noise.Guarantee().Delta())
	return out, err
}
