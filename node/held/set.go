package held

import (
	"bytes"
	"crypto/sha256"
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
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/seed"
)

// Options says what a Set belongs to and where it is stored. Fields without a default are required.
type Options struct {
	Files    Files // callers must hold the lock of store.LockHeld to change it
	Study    protocol.StudyID
	T2       protocol.Digest // of the seed agreement
	Seed     seed.Seed
	Plans    []release.Plan // one per sketch of the study
	Looks    bool           // the study takes a first look; only for data that are elsewhere
	Look     []byte         // the look that Plans use; nil: none, or it is yet to be drawn from the Set
	Picks    [][]int        // per sketch, which entries of a record are its values
	Dataset  string         // its name in the site file
	Source   dataset.Source
	Schema   dataset.Schema
	SpillDir string    // nobody else may be able to read it
	Entropy  io.Reader // for the key of a new Set
	Workers  int       // goroutines that project. Default: 1
	// Keep receives the sample of record ids of parts before they are held. Default: no-op.
	Keep func(people.Sample) error
	// Observe receives what was read of a file so far. Default: no-op.
	Observe func(dataset.Summary)
}

// Set holds the exact sketches of one study at one party, and what they were made from. It is not
// safe for concurrent use.
type Set struct {
	Options
	m *manifest // nil: nothing is held
}

// ErrEmpty reports the use of a Set that does not exist yet.
var ErrEmpty error = fail.NothingHeld

// StaleError reports that data or site file are no longer what the Set was made from.
type StaleError struct {
	Problem string
	Hint    string // what to do if the data are elsewhere and cannot be read afresh here; else empty
}

func (e *StaleError) Error() string { return e.Fail().Error() }

func (e *StaleError) Fail() *fail.Error {
	is := fail.HeldStale.Of(errors.New(e.Problem))
	if e.Hint != "" {
		is = is.With(e.Hint)
	}
	return is
}

// Open opens what is held, which may be nothing. It reads neither data nor sketches.
func Open(o Options) (*Set, error) {
	if o.Keep == nil {
		o.Keep = func(people.Sample) error { return nil }
	}
	if o.Observe == nil {
		o.Observe = func(dataset.Summary) {}
	}
	m, err := readManifest(o.Files)
	if err != nil {
		return nil, err
	}
	if m != nil && (m.Study != o.Study.String() || m.T2 != o.T2.String() || len(m.Sums) != len(o.Plans)) {
		return nil, &DamagedError{"it belongs to another study or another seed"}
	}
	return &Set{o, m}, nil
}

// Exists reports whether sketches are held. If the data are elsewhere, that is so only once their
// parts are added up.
func (s *Set) Exists() bool { return s.ready() && !s.looking() }

// Looked reports whether the sums from which a first look is to be drawn are held.
func (s *Set) Looked() bool { return s.ready() && s.looking() }

// looking reports whether the Set is for drawing a first look.
func (s *Set) looking() bool { return s.purpose() == firstLook }

func (s *Set) ready() bool {
	return s.m != nil && s.m.Look == s.purpose() && (s.m.Job == "" || len(s.m.Shards) > 0)
}

// firstLook is the purpose of a Set from which a first look is drawn.
const firstLook = "first"

// purpose identifies in the manifest what the Set is for: empty for a sketch, firstLook, or the
// hash of the look by which the sketch is made.
func (s *Set) purpose() string {
	if !s.Looks || s.Source.Elsewhere == "" {
		return ""
	}
	if s.Look == nil {
		return firstLook
	}
	sum := sha256.Sum256(s.Look)
	return hex.EncodeToString(sum[:])
}

// Summary counts what is held.
type Summary struct {
	Records   int64   // held
	Withdrawn int64   // ids that stay out
	Clipped   []int64 // records whose contribution is clipped, by sketch
	Shards    []Shard // in the dataset's order
}

// Summary returns the counts; zeros for a Set that does not exist.
func (s *Set) Summary() Summary {
	if s.m == nil {
		return Summary{}
	}
	out := Summary{Records: s.m.records(), Withdrawn: s.m.Taken, Shards: slices.Clone(s.m.Shards)}
	for _, one := range s.m.Sums {
		out.Clipped = append(out.Clipped, one.Clipped)
	}
	return out
}

// Exact holds all sketches of a Set in the form that a release takes.
type Exact struct {
	Sketches []release.Exact // in the study's order; rows are in the order of IDs
	IDs      [][]byte        // of the records, by shard, in file order; nil without records-side sketches
	Records  int64
}

// Exact reads the sketches. They equal, to the bit, what projecting the held records in one pass
// gives. It returns a StaleError if the site file now says to read the data from elsewhere or in
// another way.
func (s *Set) Exact() (Exact, error) {
	if !s.Exists() {
		return Exact{}, ErrEmpty
	}
	if err := s.sameReading(); err != nil {
		return Exact{}, err
	}
	out := Exact{Records: s.m.records()}
	for i, plan := range s.Plans {
		rows, cols := plan.ExactShape(out.Records)
		one := release.Exact{Clipped: s.m.Sums[i].Clipped}
		var err error
		if part.IsSum(plan) {
			one.Sketch, err = loadSketch(s.Files, *s.m.Sums[i].File, plan.Sketch().Side, rows, cols)
		} else {
			one.Sketch, err = s.stacked(i, cols)
		}
		if err != nil {
			return Exact{}, err
		}
		out.Sketches = append(out.Sketches, one)
	}
	for _, shard := range s.m.Shards {
		if shard.IDs == nil {
			continue
		}
		ids, err := loadIDs(s.Files, *shard.IDs, shard.Records)
		if err != nil {
			return Exact{}, err
		}
		out.IDs = append(out.IDs, ids...)
	}
	for i, plan := range s.Plans {
		var err error
		if out.Sketches[i].Rows.Pseudonyms, err = plan.Pseudonyms(s.Seed, out.IDs); err != nil {
			return Exact{}, err
		}
	}
	return out, nil
}

// stacked concatenates the shards' rows of a records-side sketch.
func (s *Set) stacked(i int, k int64) (sketch.Sketch, error) {
	var parts []sketch.Sketch
	for _, shard := range s.m.Shards {
		if shard.Records == 0 {
			continue
		}
		rows, err := loadSketch(s.Files, *shard.Rows[i], sketch.Records, shard.Records, k)
		if err != nil {
			return sketch.Sketch{}, err
		}
		parts = append(parts, rows)
	}
	if len(parts) == 0 {
		return sketch.Sketch{Side: sketch.Records, Cols: int(k)}, nil
	}
	return sketch.Stack(parts...)
}

func hasRows(p release.Plan) bool { return !part.IsSum(p) }

// reading returns how the data are to be read now.
func (s *Set) reading() reading {
	r := reading{Dataset: s.Dataset, ID: slices.Clone(s.Schema.ID), Headers: []string{}, CSV: s.Source.CSV, Words: s.Source.Words}
	for _, f := range s.Schema.Fields {
		r.Headers = append(r.Headers, f.Header)
	}
	return r
}

func (s *Set) sameReading() error {
	now := s.reading()
	switch before := s.m.Reading; {
	case now.equal(before):
		return nil
	case now.Dataset != before.Dataset:
		return &StaleError{Problem: fmt.Sprintf("the held sketch is of dataset %q, the site file now names %q", before.Dataset, now.Dataset)}
	default:
		return &StaleError{Problem: fmt.Sprintf("the site file now reads dataset %q by other columns, another dialect or other words than the held sketch was made with", now.Dataset)}
	}
}

// contains reports whether a digest is in a sorted list.
func contains(sorted []runs.Digest, d runs.Digest) bool {
	_, found := slices.BinarySearchFunc(sorted, d, func(a, b runs.Digest) int { return bytes.Compare(a[:], b[:]) })
	return found
}
