// Package rehearsal plays a study within one process. Every party makes its release from its
// records as in production (clip, noise, masks, encoding); the release is decoded as by the
// aggregator; then all analyses run. There are no nodes and no network, and the seed is drawn
// instead of agreed, so that a study can be played many times.
package rehearsal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// Held is the data of a party. A record has a value for each column of the study that the party
// owns, in the study's order. NaN is a missing value; a categorical value is its index in the
// column's list.
type Held struct {
	IDs    []int // unique record ids; nil: numbered from 0
	Values [][]float64
}

// Rehearsal is a study with its parties' values, encoded once for all draws.
type Rehearsal struct {
	study   *study.Study
	parties []held
}

// held is the encoded data of a party.
type held struct {
	ids    [][]byte
	width  int     // entries per record, over all own columns
	values []int64 // records × width
}

// New encodes the parties' data, given in the order of the study's parties.
func New(s *study.Study, parties []Held) (*Rehearsal, error) {
	if len(parties) != len(s.Parties) {
		return nil, fmt.Errorf("rehearsing a study: data of %d parties, the study has %d", len(parties), len(s.Parties))
	}
	r := &Rehearsal{study: s}
	for p, h := range parties {
		encoded, err := encode(s, s.OwnColumns(p), h)
		if err != nil {
			return nil, fmt.Errorf("rehearsing a study: party %s: %w", s.Parties[p].Name, err)
		}
		r.parties = append(r.parties, encoded)
	}
	return r, nil
}

// encode encodes records as a party's reader does.
func encode(s *study.Study, own []int, h Held) (held, error) {
	out := held{}
	for _, c := range own {
		out.width += entries(s.Columns[c])
	}
	out.values = make([]int64, 0, len(h.Values)*out.width)
	for i, record := range h.Values {
		if len(record) != len(own) {
			return out, fmt.Errorf("record %d has %d values for %d columns", i, len(record), len(own))
		}
		id := i
		if h.IDs != nil {
			id = h.IDs[i]
		}
		out.ids = append(out.ids, fmt.Appendf(nil, "record %d", id))
		for j, c := range own {
			var err error
			if out.values, err = appendValue(out.values, s, s.Columns[c], record[j]); err != nil {
				return out, fmt.Errorf("record %d, column %s: %w", i, s.Columns[c].Name, err)
			}
		}
	}
	return out, nil
}

// entries returns how many integers encode a value of a column.
func entries(c study.Column) int {
	if c.Kind == study.Categorical {
		return len(c.Values)
	}
	return 1
}

// appendValue encodes a value as package dataset does.
func appendValue(dst []int64, s *study.Study, c study.Column, x float64) ([]int64, error) {
	missing := math.IsNaN(x)
	if missing && s.Records.Missing == study.MissingCount {
		for range entries(c) {
			dst = append(dst, sketch.Absent)
		}
		return dst, nil
	}
	if missing && s.Records.Missing != study.MissingCentre {
		return dst, fmt.Errorf("a value is missing, and the study says missing: %s", s.Records.Missing)
	}
	if c.Kind != study.Categorical {
		if missing {
			return append(dst, c.Scale.Missing(s.ReadBits())), nil
		}
		scale := c.Scale
		if s.Unlimited() {
			scale = scale.Unlimited()
		}
		v, _ := scale.Encode(x, s.ReadBits())
		return append(dst, v), nil
	}
	from := len(dst)
	dst = append(dst, make([]int64, len(c.Values))...)
	if missing {
		return dst, nil
	}
	at := int(x)
	if float64(at) != x || at < 0 || at >= len(c.Values) {
		return dst, fmt.Errorf("%v is not an index into a list of %d values", x, len(c.Values))
	}
	dst[from+at] = s.ReadBits().One()
	return dst, nil
}

// Answer is a study's result.
type Answer struct {
	Result analysis.Result
	Labels []analysis.Labels // by party; nil if no analysis labels records
	Orders [][]int           // by party: the record index of each row of its release, for the last sketch of the records side
	Run    analysis.Options  // the inputs of the result
}

// Draw plays the study once, with seed, noise and masks drawn from entropy.
func (r *Rehearsal) Draw(ctx context.Context, entropy io.Reader) (*Answer, error) {
	var key [seed.Size]byte
	if _, err := io.ReadFull(entropy, key[:]); err != nil {
		return nil, fmt.Errorf("rehearsing a study: drawing the seed: %w", err)
	}
	pairs, err := pairs(r.study, entropy)
	if err != nil {
		return nil, fmt.Errorf("rehearsing a study: %w", err)
	}
	o := analysis.Options{Study: r.study, Attempt: 1, Complete: true, Entropy: entropy}
	out := &Answer{}
	for p := range r.parties {
		c, order, err := r.contribute(p, seed.FromBytes(key), pairs, entropy)
		if err != nil {
			return nil, fmt.Errorf("rehearsing a study: the release of %s: %w", r.study.Parties[p].Name, err)
		}
		o.Contributions, out.Orders = append(o.Contributions, c), append(out.Orders, order)
	}
	out.Run = o
	out.Result, out.Labels, err = analysis.Run(ctx, o)
	return out, err
}

// Cells returns the cells of a party's records in a sketch of side cells.
func (r *Rehearsal) Cells(party, index int, run analysis.Options) (out []int, err error) {
	plan, err := release.For(r.study, party, index)
	if err != nil {
		return nil, err
	}
	keys, err := release.Public(r.study, run.Contributions[party].Published)
	if err != nil {
		return nil, err
	}
	directions, err := sum.Directions(r.study, index, keys)
	if err != nil {
		return nil, err
	}
	centres, products := r.study.Centres(index), make([]int64, directions.Spec().K)
	x := make([]int64, len(centres))
	err = r.each(party, plan, func(_ [][]byte, values []int64) error {
		for ; len(values) > 0; values = values[len(centres):] {
			for j, c := range centres {
				if x[j] = 0; values[j] != sketch.Absent {
					x[j] = sketch.Round(values[j], r.study.Fine()) - c
				}
			}
			if plan.Clip > 0 {
				dp.ClipL2(x, plan.Clip)
			}
			directions.Project(products, x)
			out = append(out, sketch.CellOf(products))
		}
		return nil
	})
	return out, err
}

// batch is the number of records added at a time.
const batch = 4096

// contribute makes a party's release as a party does, and decodes it as the aggregator does.
func (r *Rehearsal) contribute(party int, root seed.Seed, pairs []agree.Pairs, entropy io.Reader) (c analysis.Contribution, order []int, err error) {
	h := r.parties[party]
	c = analysis.Contribution{Party: party, Records: int64(len(h.ids))}
	if c.Published, err = release.Publish(r.study, root); err != nil {
		return c, nil, err
	}
	for i := range r.study.Sketches {
		plan, err := release.For(r.study, party, i)
		if err != nil {
			return c, nil, err
		}
		if plan, err = r.look(party, plan, entropy); err != nil {
			return c, nil, err
		}
		exact, err := r.exact(party, plan, root, entropy)
		if err != nil {
			return c, nil, err
		}
		if exact.Order != nil {
			order = exact.Order
		}
		if err := plan.Draw(&exact.Sketch, entropy, workers); err != nil {
			return c, nil, err
		}
		if pairs != nil {
			if err := exact.Mask(plan, pairs[party]); err != nil {
				return c, nil, err
			}
			c.Masked = exact.Masked
		}
		header, data, err := exact.Encode()
		if err != nil {
			return c, nil, err
		}
		from := bytes.NewReader(data)
		decoded, err := release.Decode(header, from)
		if err != nil {
			return c, nil, err
		}
		decoded, labels, err := plan.Unpack(decoded)
		if err != nil {
			return c, nil, err
		}
		rows, err := release.DecodeRows(header, from, nil)
		if err != nil {
			return c, nil, err
		}
		c.Sketches, c.Rows, c.Labels, c.Bytes = append(c.Sketches, decoded), append(c.Rows, rows), append(c.Labels, labels), c.Bytes+header.Size()
	}
	return c, order, nil
}

// look takes the first look at the data, if the sketch has one, and returns the plan after it.
func (r *Rehearsal) look(party int, plan release.Plan, entropy io.Reader) (release.Plan, error) {
	if !plan.Looks() {
		return plan, nil
	}
	look := plan.NewLook()
	if err := r.each(party, plan, func(_ [][]byte, values []int64) error { return look.Add(values) }); err != nil {
		return plan, err
	}
	moves, err := look.Draw(entropy)
	if err != nil {
		return plan, err
	}
	return plan.After(moves)
}

// workers is the number of goroutines of one release.
const workers = 2

// exact returns a party's sketch before noise.
func (r *Rehearsal) exact(party int, plan release.Plan, root seed.Seed, entropy io.Reader) (release.Exact, error) {
	b, err := plan.NewBuilder(root, workers)
	if err != nil {
		return release.Exact{}, err
	}
	if err := r.each(party, plan, b.AddRead); err != nil {
		return release.Exact{}, err
	}
	return b.Finish(entropy)
}

// each calls take with a sketch's inputs of a party's records, batch by batch.
func (r *Rehearsal) each(party int, plan release.Plan, take func(ids [][]byte, values []int64) error) error {
	h := r.parties[party]
	at := picks(r.study, party, plan)
	var picked []int64
	for from := 0; from < len(h.ids); from += batch {
		to := min(from+batch, len(h.ids))
		values := h.values[from*h.width : to*h.width]
		if !all(at, h.width) {
			picked = picked[:0]
			for ; len(values) > 0; values = values[h.width:] {
				for _, i := range at {
					picked = append(picked, values[i])
				}
			}
			values = picked
		}
		if err := take(h.ids[from:to], values); err != nil {
			return err
		}
	}
	return nil
}

// all reports whether at is 0, 1, …, n-1.
func all(at []int, n int) bool {
	for i, place := range at {
		if i != place {
			return false
		}
	}
	return len(at) == n
}

// picks returns the indices of a sketch's inputs among the entries of all columns of a record.
func picks(s *study.Study, party int, plan release.Plan) (out []int) {
	at, next := map[study.Feature]int{}, 0
	for _, c := range s.OwnColumns(party) {
		if column := s.Columns[c]; column.Kind != study.Categorical {
			at[study.Feature{Column: c, Kind: study.Value}] = next
		} else {
			for i, v := range column.Values {
				at[study.Feature{Column: c, Value: v, Kind: study.OneHot}] = next + i
			}
		}
		next += entries(s.Columns[c])
	}
	for _, f := range plan.Inputs() {
		out = append(out, at[f])
	}
	return out
}

// Encoded returns the entries of one of a party's records, over all its columns.
func (r *Rehearsal) Encoded(party, record int) []int64 {
	h := r.parties[party]
	return h.values[record*h.width:][:h.width]
}
