package analysis

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
)

// mergedColumns merges the parties' sketches of the columns side, k rows each: it adds them, or
// puts their columns beside each other. However many parties there are, it holds only the merged
// sketch, one block, and the head rows of each party, which it returns. If the plan counts cut
// records, the counts are the last row of the merged sketch. Entries were checked as they were
// read, so no sum overflows. Sums of masked entries are modulo 2^64.
func (r *run) mergedColumns(plan release.Plan, index int, add bool) (sketch.Sketch, [][]int64, error) {
	first := r.Contributions[0].Sketches[index]
	out := sketch.Sketch{Side: first.Side, Rows: first.Rows - plan.Head(), Cols: first.Cols}
	if !add {
		out.Cols = 0
	}
	for _, c := range r.Contributions {
		s := c.Sketches[index]
		if s.Side != first.Side || s.Rows != first.Rows || add && s.Cols != first.Cols || s.Rows <= plan.Head() || s.Cols < 1 {
			return out, nil, fmt.Errorf("merging sketches: that of party %q is a %s, the first a %s", r.Study.Parties[c.Party].Name, s, first)
		}
		if !add {
			out.Cols += s.Cols
		}
	}
	from, err := r.persistent(index)
	if err != nil {
		return out, nil, err
	}
	if out.Data, err = room.Of[int64](from, out.Rows*out.Cols); err != nil {
		return out, nil, err
	}
	var heads [][]int64
	offset := 0 // of the party's first column
	for _, c := range r.Contributions {
		head, err := c.addTo(out, index, offset, plan.Head())
		if err != nil {
			return out, nil, fmt.Errorf("merging sketches: that of party %q: %w", r.Study.Parties[c.Party].Name, err)
		}
		heads = append(heads, head)
		if !add {
			offset += c.Sketches[index].Cols
		}
	}
	if r.Study.Masked() {
		return out, heads, plan.Unmasked(out, len(r.Contributions))
	}
	return out, heads, nil
}

// addTo adds a sketch to the columns of another that begin at offset, except for its first rows,
// which it returns.
func (c Contribution) addTo(to sketch.Sketch, index, offset, before int) (head []int64, err error) {
	s := c.Sketches[index]
	row, col := 0, 0
	take := func(entries []int64) {
		if left := before*s.Cols - len(head); left > 0 {
			n := min(left, len(entries))
			head, entries = append(head, entries[:n]...), entries[n:]
		}
		for len(entries) > 0 && row < to.Rows {
			n := min(len(entries), s.Cols-col)
			at := to.Data[row*to.Cols+offset+col:]
			for i, v := range entries[:n] {
				at[i] += v
			}
			entries = entries[n:]
			if col += n; col == s.Cols {
				row, col = row+1, 0
			}
		}
	}
	if err := c.entries(index, take); err != nil {
		return nil, err
	}
	if row != to.Rows {
		return nil, fmt.Errorf("it ends after %d of %d rows", row+before, s.Rows)
	}
	return head, nil
}

// summed adds up all parties' sums of a sketch, one release after the other.
func (r *run) summed(plan release.Plan, index int) (sketch.Sketch, error) {
	first := r.Contributions[0].Sketches[index]
	out := sketch.Sketch{Side: first.Side, Rows: first.Rows, Cols: first.Cols}
	from, err := r.scratch(index)
	if err != nil {
		return out, err
	}
	if out.Data, err = room.Of[int64](from, out.Rows*out.Cols); err != nil {
		return out, err
	}
	masked := r.Study.Masked()
	for _, c := range r.Contributions {
		name := r.Study.Parties[c.Party].Name
		if s := c.Sketches[index]; s.Side != first.Side || s.Rows != first.Rows || s.Cols != first.Cols {
			return out, fmt.Errorf("adding sketches: that of party %q is a %s, the first a %s", name, s, first)
		}
		at, beyond := 0, false
		if err := c.entries(index, func(entries []int64) {
			entries = entries[:min(len(entries), len(out.Data)-at)]
			for i, v := range entries {
				sum := &out.Data[at+i]
				beyond = beyond || !masked && (v > 0 && *sum > math.MaxInt64-v || v < 0 && *sum < math.MinInt64-v)
				*sum += v // masked sums are modulo 2^64
			}
			at += len(entries)
		}); err != nil {
			return out, fmt.Errorf("adding sketches: that of party %q: %w", name, err)
		}
		if at != len(out.Data) || beyond {
			return out, fmt.Errorf("adding sketches: that of party %q has %d entries of %d, or a sum of them overflows", name, at, len(out.Data))
		}
	}
	if masked {
		err = plan.Unmasked(out, len(r.Contributions))
	}
	return out, err
}

// whole returns one contribution's sketch of sums, in the room that from gives.
func (c Contribution) whole(from room.Allocator, index int) (sketch.Sketch, error) {
	s := c.Sketches[index]
	if s.Data != nil || c.Scan == nil {
		return s, nil
	}
	data, err := room.Of[int64](from, s.Rows*s.Cols)
	if err != nil {
		return s, err
	}
	at := 0
	if err := c.Scan(index, func(entries []int64) { at += copy(data[at:], entries) }); err != nil {
		return s, err
	}
	if at != len(data) {
		return s, fmt.Errorf("it ends after %d of %d entries", at, len(data))
	}
	s.Data = data
	return s, nil
}

// entries passes the entries of a sketch to take, block by block.
func (c Contribution) entries(index int, take func([]int64)) error {
	if s := c.Sketches[index]; s.Data != nil || c.Scan == nil {
		take(s.Data)
		return nil
	}
	return c.Scan(index, take)
}
