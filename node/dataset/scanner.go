package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// scanner splits text into records according to RFC 4180: fields are separated by delimiters, and
// quoted if they hold a delimiter, a quote (doubled) or a line break. Blank lines are skipped. It
// looks at every byte but keeps only the wanted fields.
type scanner struct {
	data  []byte
	line  int64 // of data[at]
	at    int
	mark  byte    // the delimiter
	slots []int32 // index in cells of each field of a record, -1 if unwanted; nil: every field
	limit int64   // most bytes of a record
	cut   bool    // the data end within an unfinished record

	cells   []cell
	first   int64 // line of the record
	scratch []byte
}

// cell is a field's text, valid until the next record.
type cell struct {
	text []byte
	line int64 // line on which the field begins
}

// flaw says what is wrong with a record, and where.
type flaw struct {
	line          int64
	message, hint string
}

const (
	hintQuoteValue = "quote the whole value and double the quotes in it"
	hintNeverClose = "is a quoted value never closed?"
)

// next scans the next record into cells. It returns the number of its fields, 0 at the end of the
// data.
func (s *scanner) next() (fields int, wrong *flaw) {
	s.skipBlank()
	if s.at == len(s.data) {
		return 0, nil
	}
	s.cells, s.scratch, s.first = s.cells[:0], s.scratch[:0], s.line
	start, last := s.at, false
	for !last {
		line := s.line
		slot := -1
		switch {
		case s.slots == nil:
			slot = fields
		case fields < len(s.slots):
			slot = int(s.slots[fields])
		}
		var value []byte
		if s.at < len(s.data) && s.data[s.at] == '"' {
			value, last, wrong = s.quoted(slot >= 0)
		} else {
			value, last, wrong = s.unquoted()
		}
		if wrong != nil {
			return fields, wrong
		}
		if slot >= 0 {
			for len(s.cells) <= slot {
				s.cells = append(s.cells, cell{})
			}
			s.cells[slot] = cell{value, line}
		}
		fields++
	}
	if int64(s.at-start) > s.limit {
		return fields, s.tooLong()
	}
	return fields, nil
}

func (s *scanner) tooLong() *flaw {
	return &flaw{s.first, fmt.Sprintf("the row has more than %d bytes", s.limit), hintNeverClose}
}

func (s *scanner) skipBlank() {
	for s.at < len(s.data) {
		rest := s.data[s.at:]
		switch {
		case rest[0] == '\n':
			s.at++
		case rest[0] == '\r' && len(rest) == 1:
			s.at++
			return
		case rest[0] == '\r' && rest[1] == '\n':
			s.at += 2
		default:
			return
		}
		s.line++
	}
}

// unquoted scans an unquoted field and its terminator.
func (s *scanner) unquoted() (value []byte, last bool, _ *flaw) {
	start := s.at
	end := s.special(start)
	if end == len(s.data) {
		if s.cut {
			return nil, true, s.tooLong()
		}
		s.at = end
		return trimCR(s.data[start:end]), true, nil
	}
	switch s.data[end] {
	case s.mark:
		s.at = end + 1
		return s.data[start:end], false, nil
	case '\n':
		s.at = end + 1
		s.line++
		return trimCR(s.data[start:end]), true, nil
	default:
		return nil, true, &flaw{s.line, "a quote within an unquoted value", hintQuoteValue}
	}
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }

const (
	eachByte  = 0x0101010101010101
	highBits  = 0x8080808080808080
	eachQuote = '"' * eachByte
	eachBreak = '\n' * eachByte
)

// zeroes sets the highest bit of each zero byte of w. Bytes above the lowest zero byte may be
// marked falsely.
func zeroes(w uint64) uint64 { return (w - eachByte) &^ w & highBits }

// special returns the position of the first delimiter, quote or line feed from start on, or the end
// of the data. It examines eight bytes at a time.
func (s *scanner) special(start int) int {
	data, marks := s.data, uint64(s.mark)*eachByte
	at := start
	for ; at+8 <= len(data); at += 8 {
		w := binary.LittleEndian.Uint64(data[at:])
		if found := zeroes(w^marks) | zeroes(w^eachQuote) | zeroes(w^eachBreak); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for ; at < len(data); at++ {
		if b := data[at]; b == s.mark || b == '"' || b == '\n' {
			return at
		}
	}
	return at
}

// quoted scans a quoted field and its terminator. The value is unescaped only if it is wanted.
func (s *scanner) quoted(wanted bool) (value []byte, last bool, _ *flaw) {
	start := s.at + 1
	at := start
	plain := true // the value is the text between the quotes
	for {
		rest := s.data[at:]
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			return nil, true, s.unclosed(rest)
		}
		if breaks := bytes.Count(rest[:i], []byte{'\n'}); breaks > 0 {
			s.line += int64(breaks)
			plain = plain && !bytes.Contains(rest[:i], []byte("\r\n"))
		}
		end := at + i
		at = end + 1
		after := s.data[at:]
		switch {
		case len(after) > 0 && after[0] == '"':
			at++
			plain = false
			continue
		case len(after) > 0 && after[0] == s.mark:
			s.at = at + 1
		case len(after) == 0 || len(after) == 1 && after[0] == '\r':
			if s.cut {
				return nil, true, s.tooLong()
			}
			s.at, last = len(s.data), true
		case after[0] == '\n':
			s.at, last = at+1, true
			s.line++
		case after[0] == '\r' && after[1] == '\n':
			s.at, last = at+2, true
			s.line++
		default:
			return nil, true, s.notClosed(s.line)
		}
		value = s.data[start:end]
		if wanted && !plain {
			value = s.unescape(value)
		}
		return value, last, nil
	}
}

// unclosed reports a quoted field that the rest of the data does not close. It gives the last line
// that has text as the place where this was noticed.
func (s *scanner) unclosed(rest []byte) *flaw {
	if s.cut {
		return s.tooLong()
	}
	return s.notClosed(s.line + int64(bytes.Count(bytes.TrimSuffix(rest, []byte{'\n'}), []byte{'\n'})))
}

func (s *scanner) notClosed(noticed int64) *flaw {
	if noticed != s.first {
		return &flaw{s.first, fmt.Sprintf("a quoted value is not closed, noticed on line %d", noticed), "close it, and double the quotes in it"}
	}
	return &flaw{s.first, "a quoted value is not closed, or a quote in it not doubled", ""}
}

// unescape returns the value of a text between quotes: a doubled quote becomes one, CRLF a line
// feed. The result lives in the scratch buffer.
func (s *scanner) unescape(text []byte) []byte {
	start := len(s.scratch)
	for i := 0; i < len(text); i++ {
		b := text[i]
		if i+1 < len(text) && (b == '"' && text[i+1] == '"' || b == '\r' && text[i+1] == '\n') {
			i++
			b = text[i]
		}
		s.scratch = append(s.scratch, b)
	}
	return s.scratch[start:]
}
