package held

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/runs"
)

// Withdraw removes the records in a file, which has the columns and format of the data, and returns
// their number. Each must be held with that id and those encoded values; otherwise the error names
// its line and nothing changes. Withdrawn ids stay out of all later additions and rebuilds.
func (s *Set) Withdraw(ctx context.Context, path string) (_ int64, err error) {
	if !s.Exists() {
		return 0, ErrEmpty
	}
	src := s.Source.Of(path)
	if paths, err := src.Paths(); err != nil {
		return 0, err
	} else if len(paths) != 1 {
		return 0, &dataset.Error{File: path, Message: fmt.Sprintf("%d files match, name one", len(paths))}
	}
	c, err := s.begin(false)
	if err != nil {
		return 0, err
	}
	defer func() { err = c.close(err) }()
	builders, err := c.builders() // rows only to count clipped ones
	if err != nil {
		return 0, err
	}
	summary, _, err := c.pass(ctx, src, c.Schema.MaxRecords, nil, func(b dataset.Batch) error { return c.project(b, 0, builders) })
	switch {
	case err != nil:
		return 0, err
	case summary.Skipped > 0:
		return 0, &dataset.Error{File: path, Message: fmt.Sprintf("a value is missing in %d records, and the study leaves such records out", summary.Skipped),
			Hint: "they were never in the sketch: remove their rows; nothing was changed"}
	case summary.Records == 0:
		return 0, &dataset.Error{File: path, Message: "no records, only a header"}
	}
	gone, err := c.unindex(src)
	if err != nil {
		return 0, err
	}
	if err := c.combine(c.read(), sketch.Subtract, -1); err != nil {
		return 0, err
	}
	for i, plan := range c.Plans {
		if hasRows(plan) {
			c.next.Sums[i].Clipped -= builders[i].Clipped()
		}
	}
	for i := range c.next.Shards {
		if err := c.dropRows(&c.next.Shards[i], gone); err != nil {
			return 0, err
		}
	}
	if c.next.Withdrawn, err = c.stage.writeDigests("withdrawn", union(c.out, gone.ids)); err != nil {
		return 0, err
	}
	c.next.Taken += int64(len(gone.ids))
	return int64(len(gone.ids)), c.commit()
}

// leaving holds the records that a withdrawal removes.
type leaving struct {
	ids     []runs.Digest    // sorted
	byShard map[uint32]int64 // number of records
}

// unindex removes the records read from the index, or returns an error about those that do not
// match.
func (c *change) unindex(src dataset.Source) (leaving, error) {
	old, err := openIndex(c.Files, c.next.Index)
	if err != nil {
		return leaving{}, err
	}
	defer old.Close()
	fresh, err := c.fresh.Sorted()
	if err != nil {
		return leaving{}, err
	}
	gone := leaving{byShard: map[uint32]int64{}}
	var unfit unfit
	c.next.Index, err = c.stage.writeIndex(func(x indexWriter) error {
		return joined(old, fresh, func(old *runs.Entry, fresh []runs.Entry) error {
			switch {
			case len(fresh) == 0:
				return x.put(*old)
			case old == nil && contains(c.out, fresh[0].ID):
				unfit.add(fresh[0], "the record was withdrawn before")
			case old == nil:
				unfit.add(fresh[0], "the record is not in the held sketch")
			case old.Value != fresh[0].Value:
				unfit.add(fresh[0], "the record is in the held sketch with other values")
			default:
				gone.ids = append(gone.ids, old.ID)
				gone.byShard[old.Shard]++
			}
			return nil
		})
	})
	if err == nil && unfit.count > 0 {
		err = unfit.error(src)
	}
	return gone, err
}

// unfit collects the records of a withdrawal that do not match.
type unfit struct {
	count   int
	line    int64 // of the first
	message string
}

func (u *unfit) add(e runs.Entry, message string) {
	if u.count == 0 || e.Line < u.line {
		u.line, u.message = e.Line, message
	}
	u.count++
}

func (u *unfit) error(src dataset.Source) error {
	message := u.message
	if u.count > 1 {
		message += fmt.Sprintf("; %d more rows do not fit", u.count-1)
	}
	return src.ErrorAt(u.line, message, "withdraw records with the id and the values that were sketched; nothing was changed")
}

// dropRows rewrites a shard without the records that leave it.
func (c *change) dropRows(shard *Shard, gone leaving) error {
	n := gone.byShard[shard.Number]
	if n == 0 {
		return nil
	}
	before := shard.Records
	shard.Records, shard.Withdrawn = before-n, shard.Withdrawn+n
	if shard.IDs == nil {
		return nil
	}
	ids, err := loadIDs(c.Files, *shard.IDs, before)
	if err != nil {
		return err
	}
	var stay []int
	var kept [][]byte
	for i, id := range ids {
		if !contains(gone.ids, c.key.ID(id)) {
			stay, kept = append(stay, i), append(kept, id)
		}
	}
	if int64(len(stay)) != shard.Records {
		return &DamagedError{shard.IDs.Name + " and the index differ"}
	}
	file, err := c.stage.writeIDs(fmt.Sprintf("ids-%d", shard.Number), kept)
	if err != nil {
		return err
	}
	shard.IDs, shard.Rows = &file, slices.Clone(shard.Rows)
	for i, plan := range c.Plans {
		if part.IsSum(plan) {
			continue
		}
		_, k := plan.Shape(before)
		rows, err := loadSketch(c.Files, *shard.Rows[i], sketch.Records, before, k)
		if err != nil {
			return err
		}
		left := sketch.Sketch{Side: sketch.Records, Rows: len(stay), Cols: rows.Cols}
		for _, row := range stay {
			left.Data = append(left.Data, rows.Row(row)...)
		}
		if err := c.writeBlock(shard, i, left); err != nil {
			return err
		}
	}
	return nil
}

// union merges two sorted disjoint lists.
func union(a, b []runs.Digest) []runs.Digest {
	out := make([]runs.Digest, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if bytes.Compare(a[0][:], b[0][:]) < 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
