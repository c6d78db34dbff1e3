package held

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol/release"
)

// change is one change of a Set, from the first file that it reads to its commit.
type change struct {
	*Set
	stage    *stage
	next     *manifest // to be committed
	key      *runs.Key
	out      []runs.Digest      // ids withdrawn before, sorted
	sums     []*release.Builder // of what is read: one per columns-side sketch, else nil
	rows     part.Rows
	fresh    *runs.Sorter  // index entries of what is read
	filtered dataset.Batch // scratch
}

// begin starts a change of what is held; if afresh, a change of nothing. The key and the withdrawn
// ids stay in either case.
func (s *Set) begin(afresh bool) (*change, error) {
	c := &change{Set: s, fresh: runs.NewSorter(s.SpillDir)}
	if err := c.carryOver(afresh); err != nil {
		return nil, err
	}
	c.rows = part.Rows{Key: c.key, Picks: s.Picks}
	c.stage = &stage{files: s.Files, generation: c.next.Generation}
	for _, plan := range s.Plans {
		var b *release.Builder
		if part.IsSum(plan) && !s.looking() {
			var err error
			if b, err = plan.NewBuilder(s.Seed, max(s.Workers, 1)); err != nil {
				return nil, err
			}
		}
		c.sums = append(c.sums, b)
	}
	return c, nil
}

// builders returns one builder per sketch: those of the sums, and new ones for rows.
func (c *change) builders() ([]*release.Builder, error) {
	out := slices.Clone(c.sums)
	for i, plan := range c.Plans {
		if out[i] != nil {
			continue
		}
		var err error
		if out[i], err = plan.NewBuilder(c.Seed, max(c.Workers, 1)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *change) carryOver(afresh bool) (err error) {
	c.next = &manifest{
		Format: format, Study: c.Study.String(), T2: c.T2.String(), Generation: 1,
		Look: c.purpose(), Reading: c.reading(), Sums: make([]sum, len(c.Plans)), Shards: []Shard{},
	}
	if c.m == nil {
		if c.key, err = runs.NewKey(c.Entropy); err == nil {
			c.next.Key = c.key.Text()
		}
		return err
	}
	if c.key, err = runs.ParseKey(c.m.Key); err != nil {
		return &DamagedError{err.Error()}
	}
	if c.out, err = loadDigests(c.Files, c.m.Withdrawn); err != nil {
		return err
	}
	if !afresh {
		copied := *c.m
		copied.Shards, copied.Sums = slices.Clone(c.m.Shards), slices.Clone(c.m.Sums)
		copied.Generation++
		c.next = &copied
		return c.sameReading()
	}
	if len(c.out) > 0 && !slices.Equal(c.m.Reading.ID, c.next.Reading.ID) {
		return errors.New("records were withdrawn by other id columns than the site file names now, so they could not be kept out (name the former id columns again)")
	}
	c.next.Generation, c.next.Key, c.next.Withdrawn, c.next.Taken = c.m.Generation+1, c.m.Key, c.m.Withdrawn, c.m.Taken
	return nil
}

// close ends a change. If err is not nil it removes the files of an uncommitted change.
func (c *change) close(err error) error {
	if err != nil {
		err = errors.Join(err, c.stage.abandon())
	}
	return errors.Join(err, c.fresh.Close())
}

// commit makes the change the Set. After an error it is unknown whether the change is committed, so
// nothing is removed; opening the Set again shows it.
func (c *change) commit() error {
	if c.next.Withdrawn.Name == "" {
		var err error
		if c.next.Withdrawn, err = c.stage.writeDigests("withdrawn", nil); err != nil {
			return err
		}
	}
	c.stage.created = nil
	if err := c.Files.Commit(c.next.encode(), c.next.names()); err != nil {
		return err
	}
	c.m = c.next
	return nil
}

// pass reads a source and passes on its records, except those whose ids are in without. It returns
// the number of excluded ones.
func (c *change) pass(ctx context.Context, src dataset.Source, limit int64, without []runs.Digest, take func(dataset.Batch) error) (dataset.Summary, int64, error) {
	schema := c.Schema
	schema.MaxRecords = limit
	var left int64
	summary, err := dataset.Each(ctx, src, schema, dataset.Options{SpillDir: c.SpillDir, AllowEmpty: true}, func(b dataset.Batch) error {
		kept := c.filter(b, without)
		left += int64(len(b.IDs) - len(kept.IDs))
		return take(kept)
	}, c.Observe)
	if err != nil {
		return dataset.Summary{}, 0, err
	}
	return summary, left, nil
}

// filter returns a batch's records except those whose ids are in without.
func (c *change) filter(b dataset.Batch, without []runs.Digest) dataset.Batch {
	if len(without) == 0 {
		return b
	}
	n := len(b.Values) / len(b.IDs)
	f := dataset.Batch{First: b.First, IDs: c.filtered.IDs[:0], Values: c.filtered.Values[:0], Lines: c.filtered.Lines[:0]}
	for i, id := range b.IDs {
		if contains(without, c.key.ID(id)) {
			continue
		}
		f.IDs = append(f.IDs, id)
		f.Values = append(f.Values, b.Values[i*n:(i+1)*n]...)
		f.Lines = append(f.Lines, b.Lines[i])
	}
	c.filtered = f
	return f
}

// project adds a batch's records to builders, one per sketch, and to the index entries.
func (c *change) project(b dataset.Batch, shard uint32, builders []*release.Builder) error {
	return c.rows.Take(b, shard, part.Adders(builders), c.fresh.Add)
}

// read returns the sums of what was read; nil for records-side sketches.
func (c *change) read() []*release.Exact {
	out := make([]*release.Exact, len(c.Plans))
	for i, b := range c.sums {
		if b != nil {
			one := b.Exact()
			out[i] = &one
		}
	}
	return out
}

// combine applies op to the held sums and these sums: one per sketch, nil for records-side
// sketches.
func (c *change) combine(sums []*release.Exact, op func(whole, part sketch.Sketch) (sketch.Sketch, error), sign int64) error {
	for i, plan := range c.Plans {
		one := sums[i]
		if one == nil {
			continue
		}
		whole := one.Sketch
		if held := c.next.Sums[i].File; held != nil {
			rows, cols := plan.ExactShape(0)
			before, err := loadSketch(c.Files, *held, one.Sketch.Side, rows, cols)
			if err != nil {
				return err
			}
			if whole, err = op(before, one.Sketch); err != nil {
				return fmt.Errorf("sketch %d: %w", i+1, err)
			}
		}
		file, err := c.stage.writeSketch(fmt.Sprintf("sum-%d", i), whole)
		if err != nil {
			return err
		}
		c.next.Sums[i] = sum{&file, c.next.Sums[i].Clipped + sign*one.Clipped}
	}
	return nil
}
