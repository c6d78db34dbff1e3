package dataset

import (
	"crypto/sha256"
	"encoding/binary"

	"golang.org/x/text/cases"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

// plan holds what all blocks have in common. It does not change while a Reader reads.
type plan struct {
	schema  Schema
	columns []column // one per field
	headers []string // names in the file: of the id columns, then of the fields
	width   int      // entries of a row
	idKey   [32]byte // see idHash

	blockValues int // approximate number of integers per block
}

func newPlan(s Schema, w Replacements, o Options) *plan {
	p := &plan{schema: s, width: s.Entries(), blockValues: o.blockValues(), headers: append([]string(nil), s.ID...)}
	for _, f := range s.Fields {
		p.columns = append(p.columns, newColumn(f, w))
		p.headers = append(p.headers, f.Header)
	}
	return p
}

// idHash is the SHA-256 of a key and a record id, cut to 16 bytes. The probability that two of m
// different ids collide is below m²/2¹²⁹ (10⁹ ids: 1.5e-21), and then the data are refused. The key
// is drawn for each Reader and kept in memory only, so hashes that were spilled to a disk reveal
// nothing about ids.
type idHash struct{ hi, lo uint64 }

// sighting is an id and where it was seen.
type sighting struct {
	id idHash
	at position
}

// block holds an encoded run of records: rows of integers, ids and counts. A worker fills it, up to
// the first error; the Reader takes it.
type block struct {
	plan *plan
	fold cases.Caser // not safe for concurrent use

	arena   []byte  // ids of the records kept, concatenated
	ends    []int   // end of each id in the arena
	lines   []int64 // place of each record in its file
	values  []int64
	seen    []sighting // of every record, in order
	skipped int64
	fields  []FieldSummary // counts without names
	err     error          // ends the data

	complete bool   // the current row has every value
	start    int    // of its id in the arena
	hashed   []byte // key and id
	cells    []cell // of the scanner
	scratch  []byte // of the scanner
}

func newBlock(p *plan) *block {
	return &block{plan: p, fold: cases.Fold(), fields: make([]FieldSummary, len(p.columns))}
}

func (b *block) reset() {
	b.arena, b.ends, b.values, b.seen = b.arena[:0], b.ends[:0], b.values[:0], b.seen[:0]
	b.lines = b.lines[:0]
	b.skipped, b.err, b.start, b.complete = 0, nil, 0, true
	clear(b.fields)
}

// addIDPart normalises the value of the i-th id column, in UTF-8, and appends it to the current
// row's id.
func (b *block) addIDPart(i int, part []byte) *problem {
	s := &b.plan.schema
	if len(s.ID) > 1 {
		part, ok := normalize(string(part), s.Normalize, b.fold)
		switch {
		case !ok:
			return notUTF8
		case part == "":
			return noID
		}
		b.arena = transcript.AppendField(b.arena, []byte(part))
		return nil
	}
	var ok bool
	before := len(b.arena)
	if b.arena, ok = appendNormalized(b.arena, part, s.Normalize, b.fold); !ok {
		return notUTF8
	}
	if len(b.arena) == before {
		return noID
	}
	return nil
}

// endID records the current row's id as seen.
func (b *block) endID(at position) {
	b.hashed = append(append(b.hashed[:0], b.plan.idKey[:]...), b.arena[b.start:]...)
	sum := sha256.Sum256(b.hashed)
	id := idHash{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
	b.seen = append(b.seen, sighting{id, at})
}

// addMissing appends the encoding of an absent value of the i-th field.
func (b *block) addMissing(i int) *problem {
	switch {
	case b.plan.schema.Missing == study.MissingRefuse:
		return notPresent
	case b.plan.schema.Missing.Stays() && b.plan.columns[i].field.Required:
		return noLabel
	}
	b.fields[i].Missing++
	b.complete = false
	b.values = b.plan.columns[i].appendMissing(b.values, b.plan.schema.Missing, b.plan.schema.Bits)
	return nil
}

// addText appends a CSV value of the i-th field, trimmed and in UTF-8.
func (b *block) addText(i int, value []byte, d *Dialect) *problem {
	if words := b.plan.columns[i].words; words != nil {
		value = words.read(value)
	}
	if len(value) == 0 {
		return b.addMissing(i)
	}
	var f outcome
	var wrong *problem
	b.values, f, wrong = b.plan.columns[i].appendText(b.values, value, d, b.plan.schema.Bits)
	b.fields[i].count(f)
	return wrong
}

// addNumber appends a value of the i-th field, numeric or binary.
func (b *block) addNumber(i int, x float64) *problem {
	var f outcome
	var wrong *problem
	b.values, f, wrong = b.plan.columns[i].appendNumber(b.values, x, b.plan.schema.Bits)
	b.fields[i].count(f)
	return wrong
}

// addCategory appends a value of the i-th field, which is categorical. White space around it is
// ignored.
func (b *block) addCategory(i int, value []byte) *problem {
	if value = trimSpace(value); len(value) == 0 {
		return b.addMissing(i)
	}
	var wrong *problem
	b.values, wrong = b.plan.columns[i].appendCategory(b.values, value, b.plan.schema.Bits)
	return wrong
}

// endRow keeps the current row, or leaves it out.
func (b *block) endRow() {
	if !b.complete && b.plan.schema.Missing == study.MissingSkip {
		b.arena, b.values = b.arena[:b.start], b.values[:len(b.ends)*b.plan.width]
		b.skipped++
	} else {
		b.ends = append(b.ends, len(b.arena))
		b.lines = append(b.lines, b.seen[len(b.seen)-1].at.line())
	}
	b.complete, b.start = true, len(b.arena)
}

// FieldSummary counts the values of one field, those of left-out records included.
type FieldSummary struct {
	Name    string // the study's name of the column
	Clamped int64  // values outside the public bounds, clipped to them
	Missing int64  // empty values
	// NoLogarithm counts those of Clamped that are 0 or less under the log transform.
	NoLogarithm int64
}

func (s *FieldSummary) count(f outcome) {
	if f != within {
		s.Clamped++
	}
	if f == noLogarithm {
		s.NoLogarithm++
	}
}
