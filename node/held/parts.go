package held

import (
	"context"
	"crypto/hpke"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol/release"
)

// If the data are elsewhere, a Set is made from parts, one per shard. Before they are added it
// holds only what their job needs.

// anewFromParts is the hint for a Set whose data are elsewhere.
const anewFromParts = "to start over: party advanced sketch STUDY --rebuild --job FILE"

// PrepareJob starts a Set to be made from parts, if there is none yet or if afresh is set. It fills in the
// job by which the parts are made. An equal Set gives an equal job.
func (s *Set) PrepareJob(afresh bool, j *part.Job) error {
	if s.m == nil || s.m.Job == "" || s.m.Look != s.purpose() || afresh {
		if err := s.startJob(afresh); err != nil {
			return err
		}
	}
	if len(s.m.Shards) > 0 {
		return &StaleError{Problem: fmt.Sprintf("the parts of %d shards are added up already, and no part can be added to them", len(s.m.Shards)), Hint: anewFromParts}
	}
	if err := s.sameReading(); err != nil {
		return err
	}
	return s.asked(j)
}

// startJob starts the Set and draws the job's key.
func (s *Set) startJob(afresh bool) (err error) {
	c, err := s.begin(afresh || s.m != nil)
	if err != nil {
		return err
	}
	defer func() { err = c.close(err) }()
	var material [32]byte
	if _, err := io.ReadFull(s.Entropy, material[:]); err != nil {
		return fmt.Errorf("drawing the key of a job: %w", err)
	}
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(material[:])
	if err != nil {
		return fmt.Errorf("drawing the key of a job: %w", err)
	}
	raw, err := key.Bytes()
	if err != nil {
		return fmt.Errorf("drawing the key of a job: %w", err)
	}
	c.next.Job = hex.EncodeToString(raw)
	if c.next.Index, err = c.stage.writeIndex(func(indexWriter) error { return nil }); err != nil {
		return err
	}
	return c.commit()
}

// jobKey returns the private key of the job.
func (s *Set) jobKey() (hpke.PrivateKey, error) {
	raw, err := hex.DecodeString(s.m.Job)
	if err == nil {
		var key hpke.PrivateKey
		if key, err = hpke.MLKEM768X25519().NewPrivateKey(raw); err == nil {
			return key, nil
		}
	}
	return nil, &DamagedError{"the key of its job is damaged"}
}

// asked fills in a job from the Set.
func (s *Set) asked(j *part.Job) error {
	key, err := s.jobKey()
	if err != nil {
		return err
	}
	if j.Digests, err = runs.ParseKey(s.m.Key); err != nil {
		return &DamagedError{err.Error()}
	}
	j.T2, j.To, j.Looks, j.Look = s.T2, key.PublicKey().Bytes(), s.Looks, s.Look
	if !s.looking() {
		j.Keys, err = part.KeysOf(s.Seed, s.Plans)
	}
	return err
}

// Sum adds up the parts of all shards. Parts that are added up already change nothing. Everything
// else that does not fit is an error, and then nothing has changed.
func (s *Set) Sum(ctx context.Context, j *part.Job, files []part.File) (_ Changes, err error) {
	if s.m == nil || s.m.Job == "" || s.m.Look != s.purpose() {
		return Changes{}, s.Source.NotHere()
	}
	if err := s.asked(j); err != nil {
		return Changes{}, err
	}
	if files, err = part.Sorted(files, j); err != nil {
		return Changes{}, err
	}
	if len(s.m.Shards) > 0 {
		return Changes{}, s.summed(ctx, files)
	}
	c, err := s.begin(false)
	if err != nil {
		return Changes{}, err
	}
	defer func() { err = c.close(err) }()
	sample, err := c.addParts(ctx, j, files)
	if err == nil {
		err = s.Keep(sample)
	}
	if err != nil {
		return Changes{}, err
	}
	out := Changes{Changed: true}
	for _, one := range c.next.Shards {
		out.Added = append(out.Added, one.Name)
	}
	return out, c.commit()
}

// summed returns an error if these are not the parts of the Set.
func (s *Set) summed(ctx context.Context, files []part.File) error {
	for i, f := range files {
		sum, err := dataset.HashFile(ctx, f.Path)
		if err != nil {
			return err
		}
		if i >= len(s.m.Shards) || len(files) != len(s.m.Shards) || s.m.Shards[i].SHA256 != sum.String() {
			return &StaleError{Problem: fmt.Sprintf("the parts of %d shards are added up already, and %s is not one of them", len(s.m.Shards), f.Path), Hint: anewFromParts}
		}
	}
	return nil
}

// addParts adds up parts, in the order of their shards.
func (c *change) addParts(ctx context.Context, j *part.Job, files []part.File) (sample people.Sample, err error) {
	key, err := c.jobKey()
	if err != nil {
		return sample, err
	}
	sums := make([]*release.Exact, len(c.Plans))
	var held int64
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return sample, err
		}
		shard, of, err := c.addPart(j, key, f, sums)
		if err != nil {
			return sample, err
		}
		if held += shard.Records; held > c.Schema.MaxRecords {
			return sample, &dataset.Error{File: f.Path, Message: fmt.Sprintf("more than %d records in all, the limit", c.Schema.MaxRecords)}
		}
		sample = sample.With(of)
		c.next.Shards = append(c.next.Shards, *shard)
		c.Observe(dataset.Summary{Bytes: int64(len(c.next.Shards)), Size: int64(len(files))})
	}
	if held == 0 {
		return sample, &dataset.Error{File: c.Source.String(), Message: "no records"}
	}
	place := func(shard int, line int64, message, hint string) error {
		return &dataset.Error{File: c.next.Shards[shard].Name, Line: line, Message: message, Hint: hint + "; nothing was changed"}
	}
	if err := c.index(place); err != nil {
		return sample, err
	}
	return sample, c.combine(sums, added, 1)
}

// addPart adds a part's sums to sums, its runs to the index entries, and its rows to a new shard.
func (c *change) addPart(j *part.Job, key hpke.PrivateKey, f part.File, sums []*release.Exact) (*Shard, people.Sample, error) {
	shard := &Shard{Name: "shard " + f.Label.Shard.String(), Number: c.next.NextShard, Columns: []Column{}}
	c.next.NextShard++
	rows := make([][]int64, len(c.Plans))
	var ids [][]byte
	counts, digest, err := f.Read(j, key, c.partPass(), part.Sink{
		Run: func(run runs.Source) error { return c.fresh.AddRun(&ofShard{run, shard.Number, c.out}) },
		IDs: func(more [][]byte) error { ids = append(ids, more...); return nil },
		Rows: func(i int, block []int64) error {
			rows[i] = append(rows[i], block...)
			return nil
		},
		Sum: func(i int, one sketch.Sketch) error {
			if sums[i] == nil {
				sums[i] = &release.Exact{Sketch: one}
				return nil
			}
			whole, err := added(sums[i].Sketch, one)
			sums[i].Sketch = whole
			return err
		},
	})
	if errors.Is(err, errWithdrawn) {
		return nil, people.Sample{}, &dataset.Error{File: shard.Name, Message: "it has a record that was withdrawn", Hint: "leave it out where the data are, and make the part again; nothing was changed"}
	}
	if err != nil {
		return nil, people.Sample{}, err
	}
	sample, err := people.Decode(counts.Sample)
	if err != nil {
		return nil, sample, err
	}
	shard.SHA256, shard.Records, shard.Skipped, shard.Columns, shard.Clipped = digest.String(), counts.Records, counts.Skipped, counts.Columns, counts.Clipped
	return shard, sample, c.keepPart(shard, sums, rows, ids)
}

// keepPart adds up the part's counts of clipped records, and writes its rows.
func (c *change) keepPart(shard *Shard, sums []*release.Exact, rows [][]int64, ids [][]byte) (err error) {
	shard.Rows = make([]*stored, len(c.Plans))
	for i, plan := range c.Plans {
		if sums[i] != nil {
			sums[i].Clipped += shard.Clipped[i]
		}
		if part.IsSum(plan) || c.looking() {
			continue
		}
		c.next.Sums[i].Clipped += shard.Clipped[i]
		n, cols := plan.ExactShape(shard.Records)
		if err := c.writeBlock(shard, i, sketch.Sketch{Side: sketch.Records, Rows: int(n), Cols: int(cols), Data: rows[i]}); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(c.Plans, hasRows) && !c.looking() {
		file, err := c.stage.writeIDs(fmt.Sprintf("ids-%d", shard.Number), ids)
		if err != nil {
			return err
		}
		shard.IDs = &file
	}
	return nil
}

// partPass returns what parts are made for.
func (s *Set) partPass() part.Pass { return part.Pass{Plans: s.Plans, Looks: s.looking()} }

// RestoreLooks turns looks at no record into looks at the records of the Set, and returns their
// number. looks has one entry per sketch, possibly nil.
func (s *Set) RestoreLooks(looks []*release.Look) (records int64, err error) {
	if !s.Looked() {
		return 0, ErrEmpty
	}
	if err := s.sameReading(); err != nil {
		return 0, err
	}
	records = s.m.records()
	for i, look := range looks {
		if look == nil {
			continue
		}
		side, rows, cols, ok := s.partPass().Sum(i)
		if !ok || s.m.Sums[i].File == nil {
			return 0, &DamagedError{fmt.Sprintf("it has no first look of sketch %d", i+1)}
		}
		sums, err := loadSketch(s.Files, *s.m.Sums[i].File, side, rows, cols)
		if err == nil {
			err = look.Restore(sums, records)
		}
		if err != nil {
			return 0, err
		}
	}
	return records, nil
}

// errWithdrawn reports a record in a part whose id was withdrawn before.
var errWithdrawn = errors.New("a record was withdrawn")

// ofShard yields the entries of a shard; it fails with errWithdrawn at a withdrawn id.
type ofShard struct {
	from  runs.Source
	shard uint32
	out   []runs.Digest
}

func (o *ofShard) Next() (runs.Entry, error) {
	e, err := o.from.Next()
	if e.Shard = o.shard; err == nil && len(o.out) > 0 && contains(o.out, e.ID) {
		return e, errWithdrawn
	}
	return e, err
}
