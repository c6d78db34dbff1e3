package dataset

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

// column is a field and its place in the file.
type column struct {
	field    Field
	position int
	entry    map[string]int // of each categorical value
}

func newColumn(f Field, position int) column {
	c := column{field: f, position: position}
	if f.Kind == study.Categorical {
		c.entry = make(map[string]int, len(f.Values))
		for i, v := range f.Values {
			c.entry[v] = i
		}
	}
	return c
}

// problem is what is wrong with a cell and what was expected.
type problem struct{ message, hint string }

var (
	notUTF8    = &problem{"not valid UTF-8", hintUTF8}
	notNumber  = &problem{"not a decimal number", "write 1234.5 or 1.2345e3, with a decimal point; leave the field empty where a value is missing"}
	notFinite  = &problem{"not a finite number", "leave the field empty where a value is missing"}
	notBinary  = &problem{"neither 0 nor 1", "a binary column holds 0 and 1; leave the field empty where a value is missing"}
	notInList  = &problem{"not one of the column's values", "the study lists the values; leave the field empty where one is missing"}
	notPresent = &problem{"value is missing", "the study says missing: refuse"}
)

// appendValues appends the record's row of integers to r.values and reports
// whether every value was there.
func (r *Reader) appendValues(record []string) (complete bool, err error) {
	complete = true
	for i := range r.columns {
		c, count := &r.columns[i], &r.summary.Fields[i]
		cell := strings.TrimSpace(record[c.position])
		if cell == "" {
			if r.schema.Missing == study.MissingRefuse {
				return false, r.failCell(c.position, c.field.Header, notPresent.message, notPresent.hint)
			}
			count.Missing++
			complete = false
			r.values = c.appendMissing(r.values, r.schema.Bits)
			continue
		}
		var clamped bool
		var wrong *problem
		r.values, clamped, wrong = c.appendValue(r.values, cell, r.schema.Bits)
		if wrong != nil {
			return false, r.failCell(c.position, c.field.Header, wrong.message, wrong.hint)
		}
		if clamped {
			count.Clamped++
		}
	}
	return complete, nil
}

// appendMissing appends what stands for an absent value: the public centre, or for
// a categorical column zeros, as if none of its values applied. (Half in each of
// its v entries would be further from a value, in l1 norm v/2, than two values are
// from each other, and would break the sensitivity for v > 4.)
func (c *column) appendMissing(dst []int64, bits fixedpoint.Bits) []int64 {
	if c.field.Kind == study.Categorical {
		return append(dst, make([]int64, len(c.field.Values))...)
	}
	return append(dst, c.field.Scale.Missing(bits))
}

// appendValue appends the entries of a cell that is not empty.
func (c *column) appendValue(dst []int64, cell string, bits fixedpoint.Bits) (_ []int64, clamped bool, _ *problem) {
	switch c.field.Kind {
	case study.Binary:
		if cell != "0" && cell != "1" {
			return dst, false, notBinary
		}
		v, _ := c.field.Scale.Encode(float64(cell[0]-'0'), bits)
		return append(dst, v), false, nil
	case study.Categorical:
		entry, known := c.entry[cell]
		if !known {
			if !utf8.ValidString(cell) {
				return dst, false, notUTF8
			}
			if entry, known = c.entry[norm.NFC.String(cell)]; !known {
				return dst, false, notInList
			}
		}
		start := len(dst)
		dst = append(dst, make([]int64, len(c.field.Values))...)
		dst[start+entry] = bits.One()
		return dst, false, nil
	default:
		x, wrong := parseDecimal(cell)
		if wrong != nil {
			return dst, false, wrong
		}
		v, clamped := c.field.Scale.Encode(x, bits)
		return append(dst, v), clamped, nil
	}
}

// parseDecimal reads a finite decimal number. strconv would also take hexadecimal
// numbers, underscores and words for infinity.
func parseDecimal(cell string) (float64, *problem) {
	for i := range len(cell) {
		switch ch := cell[i]; {
		case ch >= '0' && ch <= '9', ch == '.', ch == '-', ch == '+', ch == 'e', ch == 'E':
		default:
			if _, err := strconv.ParseFloat(cell, 64); err == nil && !strings.ContainsAny(cell, "0123456789") {
				return 0, notFinite
			}
			return 0, notNumber
		}
	}
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case math.IsInf(x, 0):
		return 0, notFinite // out of float64's range
	case err != nil:
		return 0, notNumber
	}
	return x, nil
}
