package dataset

import (
	"bytes"
	"math"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// column is a field prepared for encoding.
type column struct {
	field Field
	words *replacements  // or nil
	entry map[string]int // of each categorical value
}

func newColumn(f Field, w Replacements) column {
	c := column{field: f, words: w.of(f.Header)}
	if f.Kind == study.Categorical {
		c.entry = make(map[string]int, len(f.Values))
		for i, v := range f.Values {
			c.entry[v] = i
		}
	}
	return c
}

// problem says what is wrong with a value and what was expected.
type problem struct{ message, hint string }

var (
	notUTF8    = &problem{"not valid UTF-8", hintUTF8}
	notNumber  = &problem{"not a decimal number", "write 1234.5 or 1.2345e3, with a decimal point" + hintMissing}
	grouped    = &problem{"a number with separators of thousands", "name them: csv: {thousands: point} in the site file; or comma, space or apostrophe"}
	notADay    = &problem{"no day of the calendar", "correct it in the data, or name the form that these dates have: --date, or csv: {date: …} in the site file"}
	shortYear  = &problem{"a date with a year of two digits", "write years with four digits"}
	timeOfDay  = &problem{"a date with a time of day", "cut the time off: a date is a whole number of days"}
	otherDate  = &problem{"a date in another form", "write YYYY-MM-DD, or name the form in the site file: csv: {date: DD.MM.YYYY}, {date: DD/MM/YYYY} or {date: MM/DD/YYYY}"}
	notFinite  = &problem{"not a finite number", "leave the field empty where a value is missing, or say missing: [NaN] in the site file"}
	notBinary  = &problem{"neither 0 nor 1", "a binary column holds 0 and 1; say what other values mean: values: {COLUMN: {WORD: 1}} in the site file"}
	notInList  = &problem{"not one of the column's values", "the study lists the values; say which one another means: values: {COLUMN: {WORD: VALUE}} in the site file"}
	notPresent = &problem{"value is missing", "the study says missing: refuse"}
	noLabel    = &problem{"value is missing", "labels travel in this study, or are counted, and nothing stands for an absent one: complete it, or leave the row out"}
	noID       = &problem{"record id is empty", "every row needs an id that is not empty after normalisation"}
)

// hintMissing is appended if a value may be a word for a missing one.
const hintMissing = "; leave the field empty where a value is missing, or say missing: [WORD] in the site file"

// appendMissing appends the encoding of an absent value: the public centre, or zeros for a
// categorical column, as if none of its values applied. (Half in each of its v entries would not
// do: its l1 distance from a value is v/2, more than the distance between two values, and breaks
// the sensitivity for v > 4.)
func (c *column) appendMissing(dst []int64, rule study.Missing, bits fixedpoint.Bits) []int64 {
	if rule == study.MissingCount {
		for range c.field.Entries() {
			dst = append(dst, sketch.Absent)
		}
		return dst
	}
	if c.field.Kind == study.Categorical {
		return append(dst, make([]int64, len(c.field.Values))...)
	}
	return append(dst, c.field.Scale.Missing(bits))
}

// outcome is what encoding did to a value.
type outcome uint8

const (
	within      outcome = iota
	clamped             // outside the public range, moved to its nearer bound
	noLogarithm         // clamped, and 0 or less under a logarithm
)

// appendText appends the entries of a CSV value that is not empty.
func (c *column) appendText(dst []int64, cell []byte, d *Dialect, bits fixedpoint.Bits) ([]int64, outcome, *problem) {
	switch c.field.Kind {
	case study.Binary:
		if len(cell) != 1 || cell[0] != '0' && cell[0] != '1' {
			return dst, within, notBinary
		}
		return c.appendNumber(dst, float64(cell[0]-'0'), bits)
	case study.Categorical:
		dst, wrong := c.appendCategory(dst, cell, bits)
		return dst, within, wrong
	default:
		x, wrong := d.number(cell)
		if wrong != nil {
			return dst, within, wrong
		}
		return c.appendNumber(dst, x, bits)
	}
}

// appendNumber appends the entry of a numeric or binary value.
func (c *column) appendNumber(dst []int64, x float64, bits fixedpoint.Bits) ([]int64, outcome, *problem) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return dst, within, notFinite
	case c.field.Kind == study.Binary && x != 0 && x != 1:
		return dst, within, notBinary
	}
	v, moved := c.field.Scale.Encode(x, bits)
	switch {
	case !moved:
		return append(dst, v), within, nil
	case x <= 0 && c.field.Scale.Transform().IsLog():
		return append(dst, v), noLogarithm, nil
	}
	return append(dst, v), clamped, nil
}

// appendCategory appends the entries of a categorical value.
func (c *column) appendCategory(dst []int64, value []byte, bits fixedpoint.Bits) ([]int64, *problem) {
	entry, known := c.entry[string(value)]
	if !known {
		if !utf8.Valid(value) {
			return dst, notUTF8
		}
		if entry, known = c.entry[string(norm.NFC.Bytes(value))]; !known {
			return dst, notInList
		}
	}
	start := len(dst)
	dst = append(dst, make([]int64, len(c.field.Values))...)
	dst[start+entry] = bits.One()
	return dst, nil
}

// trimSpace is bytes.TrimSpace with a fast path for text without white space at its ends.
func trimSpace(text []byte) []byte {
	if n := len(text); n == 0 || text[0] > ' ' && text[0] < utf8.RuneSelf && text[n-1] > ' ' && text[n-1] < utf8.RuneSelf {
		return text
	}
	return bytes.TrimSpace(text)
}
