package analysis

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
)

// mergedColumns merges the parties' sketches of the columns side, k rows each: their columns
// beside each other, or added. It holds what comes of it and a block more, however many
// parties there are. Entries were checked as they were read: no sum of them overflows, but
// for masked ones, whose sum is one modulo 2^64.
func (r *run) mergedColumns(plan release.Plan, index int, add bool) (sketch.Sketch, error) {
	first := r.Contributions[0].Sketches[index]
	out := sketch.Sketch{Side: first.Side, Rows: first.Rows, Cols: first.Cols}
	if !add {
		out.Cols = 0
	}
	for _, c := range r.Contributions {
		s := c.Sketches[index]
		if s.Side != first.Side || s.Rows != first.Rows || add && s.Cols != first.Cols || s.Rows < 1 || s.Cols < 1 {
			return out, fmt.Errorf("merging sketches: that of party %q is a %s, the first a %s", r.Study.Parties[c.Party].Name, s, first)
		}
		if !add {
			out.Cols += s.Cols
		}
	}
	out.Data = make([]int64, out.Rows*out.Cols)
	offset := 0 // of the party's first column
	for _, c := range r.Contributions {
		if err := c.addTo(out, index, offset); err != nil {
			return out, fmt.Errorf("merging sketches: that of party %q: %w", r.Study.Parties[c.Party].Name, err)
		}
		if !add {
			offset += c.Sketches[index].Cols
		}
	}
	if r.Study.Masked() {
		return out, plan.Unmasked(out, len(r.Contributions))
	}
	return out, nil
}

// addTo adds a sketch to the columns of another that begin at offset.
func (c Contribution) addTo(to sketch.Sketch, index, offset int) error {
	s := c.Sketches[index]
	row, col := 0, 0
	take := func(entries []int64) {
		for len(entries) > 0 && row < s.Rows {
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
	if s.Data != nil || c.Scan == nil {
		take(s.Data)
	} else if err := c.Scan(index, take); err != nil {
		return err
	}
	if row != s.Rows {
		return fmt.Errorf("it ends after %d of %d rows", row, s.Rows)
	}
	return nil
}
