package held

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
)

// Changes says what Update or Rebuild did.
type Changes struct {
	Changed bool
	Added   []string // names of the shards that were read
}

// Update reads and adds the files of the dataset that are not held yet. Held files are only hashed;
// another name or place of one does not change it. It returns a StaleError, and changes nothing, if
// a file changed or is gone. It also does so if the Set was made from a query or a program, whose
// result cannot be compared.
func (s *Set) Update(ctx context.Context) (Changes, error) {
	if s.Source.Elsewhere != "" {
		if s.Exists() {
			return Changes{}, nil // changes there arrive as other parts
		}
		return Changes{}, s.Source.NotHere()
	}
	if s.m != nil && s.Source.IsQuery() {
		return Changes{}, &StaleError{Problem: fmt.Sprintf("%s returns new results each time: it is unknown which of its records are held", s.Source)}
	}
	return s.sync(ctx, false)
}

// Rebuild reads all data afresh. Records that were withdrawn stay out.
func (s *Set) Rebuild(ctx context.Context) (Changes, error) {
	if s.Source.Elsewhere != "" {
		return Changes{}, s.Source.NotHere()
	}
	return s.sync(ctx, true)
}

// input is one file of the dataset, or its query.
type input struct {
	name   string
	sha256 string
	source dataset.Source
}

// inputs returns the inputs of the dataset as it is now.
func (s *Set) inputs(ctx context.Context) ([]input, error) {
	if s.Source.IsQuery() {
		sum := sha256.Sum256([]byte(s.Source.Question()))
		return []input{{s.Source.String(), hex.EncodeToString(sum[:]), s.Source}}, nil
	}
	paths, err := s.Source.Paths()
	if err != nil {
		return nil, err
	}
	var out []input
	for _, path := range paths {
		sum, err := dataset.HashFile(ctx, path)
		if err != nil {
			return nil, err
		}
		out = append(out, input{path, sum.String(), s.Source.Of(path)})
	}
	return out, nil
}

// sync updates the Set to the dataset as it is now.
func (s *Set) sync(ctx context.Context, afresh bool) (_ Changes, err error) {
	inputs, err := s.inputs(ctx)
	if err != nil {
		return Changes{}, err
	}
	c, err := s.begin(afresh)
	if err != nil {
		return Changes{}, err
	}
	defer func() { err = c.close(err) }()
	shards, err := match(inputs, c.next.Shards)
	if err != nil {
		return Changes{}, err
	}
	out := Changes{Changed: s.m == nil || afresh}
	held := c.next.records()
	for i, in := range inputs {
		if shards[i] != nil {
			out.Changed = out.Changed || shards[i].Name != in.name || i >= len(c.next.Shards) || c.next.Shards[i].Number != shards[i].Number
			shards[i].Name = in.name
			continue
		}
		one, err := c.addShard(ctx, in, c.Schema.MaxRecords-held)
		if err != nil {
			return Changes{}, err
		}
		held += one.Records
		shards[i], out.Changed, out.Added = one, true, append(out.Added, in.name)
	}
	if !out.Changed {
		return out, nil
	}
	c.next.Shards = c.next.Shards[:0:0]
	for _, one := range shards {
		c.next.Shards = append(c.next.Shards, *one)
	}
	if held == 0 && c.next.Taken == 0 {
		return Changes{}, &dataset.Error{File: s.Source.String(), Message: "no records"}
	}
	if len(out.Added) > 0 {
		if err := c.index(func(shard int, line int64, message, hint string) error {
			return inputs[shard].source.ErrorAt(line, message, hint)
		}); err != nil {
			return Changes{}, err
		}
		if err := c.combine(c.read(), added, 1); err != nil {
			return Changes{}, err
		}
	}
	return out, c.commit()
}

func added(whole, part sketch.Sketch) (sketch.Sketch, error) { return sketch.Add(whole, part) }

// match returns the held shard of each input, nil if it is new. Files are identified by their
// content. It returns a StaleError if a shard no longer has a file.
func match(inputs []input, held []Shard) ([]*Shard, error) {
	out := make([]*Shard, len(inputs))
	var lost []string
	for _, shard := range held {
		at := slices.IndexFunc(inputs, func(in input) bool { return in.sha256 == shard.SHA256 && in.name == shard.Name })
		if at < 0 {
			at = slices.IndexFunc(inputs, func(in input) bool { return in.sha256 == shard.SHA256 })
		}
		switch {
		case at >= 0 && out[at] == nil:
			one := shard
			out[at] = &one
		case slices.ContainsFunc(inputs, func(in input) bool { return in.name == shard.Name }):
			lost = append(lost, shard.Name+" has changed")
		default:
			lost = append(lost, shard.Name+" is gone")
		}
	}
	if len(lost) > 0 {
		const shown = 3
		more := ""
		if n := len(lost) - shown; n > 0 {
			more, lost = fmt.Sprintf(", and %d more", n), lost[:shown]
		}
		return nil, &StaleError{Problem: fmt.Sprintf("the data are not what the held sketch was made from: %s%s", strings.Join(lost, ", "), more)}
	}
	return out, nil
}

// addShard reads a new shard. Its share of the sums stays in the builders; its rows are written.
func (c *change) addShard(ctx context.Context, in input, limit int64) (*Shard, error) {
	if limit < 1 {
		return nil, &dataset.Error{File: in.name, Message: fmt.Sprintf("more than %d records in all, the limit", c.Schema.MaxRecords)}
	}
	shard := &Shard{Name: in.name, SHA256: in.sha256, Number: c.next.NextShard}
	c.next.NextShard++
	builders, err := c.builders()
	if err != nil {
		return nil, err
	}
	for _, b := range builders {
		shard.Clipped = append(shard.Clipped, -b.Clipped())
	}
	keep := slices.ContainsFunc(c.Plans, hasRows)
	var ids [][]byte
	summary, left, err := c.pass(ctx, in.source, limit, c.out, func(b dataset.Batch) error {
		if keep {
			for _, id := range b.IDs {
				ids = append(ids, slices.Clone(id))
			}
		}
		return c.project(b, shard.Number, builders)
	})
	if err != nil {
		return nil, err
	}
	if err := in.unchanged(ctx, summary); err != nil {
		return nil, err
	}
	shard.Records, shard.Withdrawn, shard.Skipped = summary.Records-left, left, summary.Skipped
	shard.Columns = part.Columns(summary)
	for i, b := range builders {
		shard.Clipped[i] += b.Clipped()
	}
	return shard, c.writeRows(shard, builders, ids)
}

// unchanged returns an error if what was read is not what was hashed.
func (in input) unchanged(ctx context.Context, read dataset.Summary) error {
	if in.source.IsQuery() {
		return nil
	}
	sum := read.Digest
	if sum == (protocol.Digest{}) { // not hashed while reading
		var err error
		if sum, err = dataset.HashFile(ctx, in.name); err != nil {
			return err
		}
	}
	if sum.String() != in.sha256 {
		return &dataset.Error{File: in.name, Message: "the file changed while it was read", Hint: "try again when its writer has finished"}
	}
	return nil
}

// writeRows writes a new shard's records-side rows and their ids.
func (c *change) writeRows(shard *Shard, builders []*release.Builder, ids [][]byte) error {
	shard.Rows = make([]*stored, len(c.Plans))
	for i, plan := range c.Plans {
		if part.IsSum(plan) {
			continue
		}
		one := builders[i].Exact()
		c.next.Sums[i].Clipped += one.Clipped
		if err := c.writeBlock(shard, i, one.Sketch); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(c.Plans, hasRows) {
		return nil
	}
	file, err := c.stage.writeIDs(fmt.Sprintf("ids-%d", shard.Number), ids)
	shard.IDs = &file
	return err
}

func (c *change) writeBlock(shard *Shard, i int, rows sketch.Sketch) error {
	file, err := c.stage.writeSketch(fmt.Sprintf("rows-%d-%d", i, shard.Number), rows)
	shard.Rows[i] = &file
	return err
}

// errorAt makes an error about a place in one of a change's shards.
type errorAt func(shard int, line int64, message, hint string) error

// index merges the new entries into the index. It returns an error if an id is repeated.
func (c *change) index(errorAt errorAt) error {
	old, err := openIndex(c.Files, c.next.Index)
	if err != nil {
		return err
	}
	defer old.Close()
	fresh, err := c.fresh.Sorted()
	if err != nil {
		return err
	}
	var first repeat
	var count int
	c.next.Index, err = c.stage.writeIndex(func(x indexWriter) error {
		return joined(old, fresh, func(old *runs.Entry, fresh []runs.Entry) error {
			one := old
			if one == nil {
				one, fresh = &fresh[0], fresh[1:]
			}
			for _, again := range fresh {
				if r := (repeat{*one, again}); count == 0 || compareLines(r.again, first.again) < 0 {
					first = r
				}
				count++
			}
			return x.put(*one)
		})
	})
	if err == nil && count > 0 {
		err = c.repeated(errorAt, first, count)
	}
	return err
}

// repeat is an id that is in two shards.
type repeat struct{ before, again runs.Entry }

func compareLines(a, b runs.Entry) int {
	if a.Shard != b.Shard {
		return int(int64(a.Shard) - int64(b.Shard))
	}
	return int(a.Line - b.Line)
}

// repeated returns an error about the first repeated id, with the number of others.
func (c *change) repeated(errorAt errorAt, r repeat, count int) error {
	at := func(e runs.Entry) int {
		return slices.IndexFunc(c.next.Shards, func(s Shard) bool { return s.Number == e.Shard })
	}
	before := c.next.Shards[at(r.before)].Name
	if r.before.Line > 0 {
		before = fmt.Sprintf("%s:%d", before, r.before.Line)
	}
	message := "record id repeated: it is in " + before + ", too"
	if count > 1 {
		message += fmt.Sprintf("; so are %d more", count-1)
	}
	return errorAt(at(r.again), r.again.Line, message, "a record may appear once: remove or merge the repeated rows")
}
