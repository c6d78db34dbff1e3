package dataset

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/protocol/study"
)

// typedRows is a run of records with typed values, as in Parquet files and databases, column by
// column: first the id columns, then the fields.
type typedRows struct {
	plan    *plan
	from    string // the file or the database, for errors
	number  int    // of the file in the source
	first   int64  // row of the first record, from 1
	records int
	columns []Vector
	fault   error // ends the data after these records; or nil
}

// Vector is one column's values.
type Vector struct {
	present []bool    // per record
	absent  int       // records without a value
	numbers []float64 // per record, of a numeric or binary column
	text    []byte    // of other columns: the values concatenated
	ends    []int     // per record: end of its value in text
}

func newTypedRows(p *plan, reuse rows) *typedRows {
	t, _ := reuse.(*typedRows)
	if t == nil {
		t = &typedRows{columns: make([]Vector, len(p.headers))}
	}
	for i := range t.columns {
		t.columns[i].reset()
	}
	t.plan, t.records, t.fault = p, 0, nil
	return t
}

func (v *Vector) reset() {
	v.present, v.absent, v.numbers, v.text, v.ends = v.present[:0], 0, v.numbers[:0], v.text[:0], v.ends[:0]
}

// AddNumber appends a number to a numeric or binary column.
func (v *Vector) AddNumber(x float64) {
	v.present = append(v.present, true)
	v.numbers = append(v.numbers, x)
}

// addPresent marks n values as present; the caller appends them.
func (v *Vector) addPresent(n int) {
	from := len(v.present)
	v.present = slices.Grow(v.present, n)[:from+n]
	for i := range v.present[from:] {
		v.present[from+i] = true
	}
}

// AddText appends a text to any other column.
func (v *Vector) AddText(text []byte) {
	v.present = append(v.present, true)
	v.text = append(v.text, text...)
	v.ends = append(v.ends, len(v.text))
}

// AddInteger appends an integer as text.
func (v *Vector) AddInteger(x int64) {
	v.present = append(v.present, true)
	v.text = strconv.AppendInt(v.text, x, 10)
	v.ends = append(v.ends, len(v.text))
}

// AddNull appends an absent value, as a number or as a text.
func (v *Vector) AddNull(isNumber bool) {
	v.present = append(v.present, false)
	v.absent++
	if isNumber {
		v.numbers = append(v.numbers, 0)
	} else {
		v.ends = append(v.ends, len(v.text))
	}
}

// at returns the i-th text.
func (v *Vector) at(i int) []byte {
	if i == 0 {
		return v.text[:v.ends[0]]
	}
	return v.text[v.ends[i-1]:v.ends[i]]
}

// isNumber reports whether column i, counted over ids and fields, holds numbers and not texts.
func (p *plan) isNumber(i int) bool {
	i -= len(p.schema.ID)
	return i >= 0 && p.columns[i].field.Kind != study.Categorical
}

// mostTyped bounds the typed records that are read at once.
const mostTyped = 1 << 14

// batchRows returns how many typed records are read at once.
func (p *plan) batchRows() int {
	return max(1, min(mostTyped, p.blockValues/max(1, p.width, len(p.headers))))
}

// translate replaces words in a column. If texts is not nil, it parses the column from them. The
// first record with a wrong replacement becomes the fault.
func (t *typedRows) translate(column int, words *replacements, texts *Vector) {
	if words == nil {
		return
	}
	records, wrong := 0, (*problem)(nil)
	if texts != nil {
		records, wrong = words.numbers(texts, &t.columns[column])
	} else {
		records, wrong = words.translate(&t.columns[column], t.plan.isNumber(column))
	}
	if wrong != nil && records < t.records {
		t.records, t.fault = records, t.fail(t.first+int64(records), column, wrong)
	}
}

// parse encodes column by column, several times as fast as record by record. If a value is wrong or
// a record has to be left out, it starts over record by record, which finds the first error.
func (t *typedRows) parse(b *block) {
	if t.parseColumns(b) {
		t.parseIDs(b)
	} else {
		b.reset()
		for i := 0; i < t.records && b.err == nil; i++ {
			t.parseRecord(b, i)
		}
	}
	if b.err == nil {
		b.err = t.fault
	}
}

// tile is how many records are encoded together, so that their entries stay in the cache while
// columns are written.
const tile = 64

// parseColumns encodes all values. It reports false if one is wrong or a record must be left out.
func (t *typedRows) parseColumns(b *block) bool {
	ids, width := len(t.plan.schema.ID), t.plan.width
	fields := t.columns[ids:]
	for i := range fields {
		if fields[i].absent > 0 && (!t.plan.schema.Missing.Stays() || t.plan.columns[i].field.Required) {
			return false
		}
	}
	b.values = slices.Grow(b.values[:0], t.records*width)[:t.records*width]
	for from := 0; from < t.records; from += tile {
		to, place := min(from+tile, t.records), from*width
		for i := range fields {
			if !b.addColumn(i, b.values[place:], &fields[i], from, to) {
				return false
			}
			place += t.plan.columns[i].field.Entries()
		}
	}
	return true
}

// addColumn encodes the i-th field of records [from, to) into dst, which begins at that field of
// record from. It reports false if a value is wrong or missing.
func (b *block) addColumn(i int, dst []int64, v *Vector, from, to int) bool {
	c, bits, width := &b.plan.columns[i], b.plan.schema.Bits, b.plan.width
	if c.field.Kind == study.Numeric && v.absent == 0 {
		encoded, outside := c.field.Scale.EncodeColumn(dst, width, v.numbers[from:to], bits)
		b.fields[i].Clamped += int64(outside)
		if outside > 0 && c.field.Scale.Transform().IsLog() {
			for _, x := range v.numbers[from:to] {
				if x <= 0 {
					b.fields[i].NoLogarithm++
				}
			}
		}
		return encoded == to-from
	}
	for at := from; at < to; at++ {
		place := dst[(at-from)*width:][:0] // appending stays within the record
		var wrong *problem
		var f outcome
		switch {
		case !v.present[at]:
			c.appendMissing(place, b.plan.schema.Missing, bits)
			b.fields[i].Missing++
		case c.field.Kind == study.Categorical:
			value := trimSpace(v.at(at))
			if len(value) == 0 {
				return false // missing as well
			}
			_, wrong = c.appendCategory(place, value, bits)
		default:
			_, f, wrong = c.appendNumber(place, v.numbers[at], bits)
		}
		if wrong != nil {
			return false
		}
		b.fields[i].count(f)
	}
	return true
}

// parseIDs adds the ids of records whose values are encoded already.
func (t *typedRows) parseIDs(b *block) {
	for i := range t.records {
		if t.parseID(b, i); b.err != nil {
			return
		}
		b.ends, b.start = append(b.ends, len(b.arena)), len(b.arena)
		b.lines = append(b.lines, b.seen[len(b.seen)-1].at.line())
	}
}

// parseID adds a record's id.
func (t *typedRows) parseID(b *block, i int) {
	row := t.first + int64(i)
	for j := range t.plan.schema.ID {
		if wrong := b.addIDPart(j, t.columns[j].at(i)); wrong != nil {
			b.err = t.fail(row, j, wrong)
			return
		}
	}
	b.endID(at(t.number, row))
}

func (t *typedRows) parseRecord(b *block, i int) {
	row, ids := t.first+int64(i), len(t.plan.schema.ID)
	if t.parseID(b, i); b.err != nil {
		return
	}
	for j := range t.plan.columns {
		v := &t.columns[ids+j]
		var wrong *problem
		switch {
		case !v.present[i]:
			wrong = b.addMissing(j)
		case t.plan.isNumber(ids + j):
			wrong = b.addNumber(j, v.numbers[i])
		default:
			wrong = b.addCategory(j, v.at(i))
		}
		if wrong != nil {
			b.err = t.fail(row, ids+j, wrong)
			return
		}
	}
	b.endRow()
}

// typedHints replace the hints for text.
var typedHints = map[*problem]string{
	notUTF8:   "store it as UTF-8",
	notFinite: "store null where a value is missing",
	notBinary: "a binary column holds 0 and 1, or false and true; store null where a value is missing",
	notInList: "the study lists the values; store null where one is missing",
	notNumber: "select a number, or cast it to one; null where a value is missing",
}

func (t *typedRows) fail(row int64, column int, wrong *problem) error {
	hint, ok := typedHints[wrong]
	if !ok {
		hint = wrong.hint
	}
	return &Error{File: t.from, Row: row, Column: t.plan.headers[column], Message: wrong.message, Hint: hint}
}

// wrongType reports a column whose type is not the wanted one.
func (p *plan) wrongType(from string, row int64, column int, holds string) error {
	wants, hint := "text or integers", ""
	switch {
	case column < len(p.schema.ID):
		hint = "it identifies a record"
	case p.isNumber(column):
		wants = "numbers"
		fallthrough
	default:
		hint = fmt.Sprintf("the study says %s", p.columns[column-len(p.schema.ID)].field.Kind)
	}
	return &Error{File: from, Row: row, Column: p.headers[column], Message: fmt.Sprintf("holds %s, not %s", holds, wants), Hint: hint}
}
