package dataset

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Replacements say how words or numbers in the data are read: as missing, as a number, or as a value of
// the study. They apply to values only. Ids are read as they are, so words do not change which
// person a record is about.
type Replacements struct {
	// Missing are words for a missing value, in every column. White space around them is ignored.
	Missing []string
	// Values maps a column's name in the data, and a value there, to what is read instead: a
	// number, a value of the study's list, or empty for missing.
	Values map[string]map[string]string
}

// IsZero reports whether there are no words.
func (w Replacements) IsZero() bool { return len(w.Missing) == 0 && len(w.Values) == 0 }

// With returns the words of both; other wins where they differ.
func (w Replacements) With(other Replacements) Replacements {
	out := Replacements{Missing: slices.Clone(w.Missing)}
	for _, word := range other.Missing {
		if !slices.Contains(out.Missing, word) {
			out.Missing = append(out.Missing, word)
		}
	}
	for _, values := range []map[string]map[string]string{w.Values, other.Values} {
		for column, of := range values {
			if out.Values == nil {
				out.Values = map[string]map[string]string{}
			}
			if out.Values[column] == nil {
				out.Values[column] = map[string]string{}
			}
			maps.Copy(out.Values[column], of)
		}
	}
	return out
}

// replacements are a column's words, prepared for lookup. nil has none.
type replacements struct {
	begins [256]bool // first bytes of all words, which rule out most values quickly
	reads  map[string][]byte
}

// of returns the words of a column; its own override those of all columns.
func (w Replacements) of(header string) *replacements {
	s := &replacements{reads: map[string][]byte{}}
	add := func(word, to string) {
		if word = cleanName(word); word != "" {
			s.begins[word[0]] = true
			s.reads[word] = []byte(cleanName(to))
		}
	}
	for _, word := range w.Missing {
		add(word, "")
	}
	for column, values := range w.Values {
		if cleanName(column) == header {
			for word, to := range values {
				add(word, to)
			}
		}
	}
	if len(s.reads) == 0 {
		return nil
	}
	return s
}

// read returns what a trimmed value is read as.
func (s *replacements) read(value []byte) []byte {
	if s == nil || len(value) == 0 {
		return value
	}
	if s.begins[value[0]] {
		if to, known := s.reads[string(value)]; known {
			return to
		}
	}
	if !isASCII(value) && utf8.Valid(value) {
		if to, known := s.reads[string(norm.NFC.Bytes(value))]; known {
			return to
		}
	}
	return value
}

// number returns what a number is read as. Numbers are looked up in decimal notation without an
// exponent.
func (s *replacements) number(x float64) (to []byte, known bool) {
	var text [32]byte
	to, known = s.reads[string(strconv.AppendFloat(text[:0], x, 'f', -1, 64))]
	return to, known
}

// value is read for a database value of any type.
func (s *replacements) value(value any) any {
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case string:
		return s.read(trimSpace([]byte(v)))
	case []byte:
		return s.read(trimSpace(v))
	case int64:
		if to, known := s.reads[strconv.FormatInt(v, 10)]; known {
			return to
		}
	case float64:
		if to, known := s.number(v); known {
			return to
		}
	}
	return value
}

// translate replaces words among a column's numbers or texts. If a replacement is wrong, it returns
// how many records precede that one, and why.
func (s *replacements) translate(v *Vector, isNumber bool) (records int, wrong *problem) {
	if !isNumber {
		in := *v
		v.text, v.ends = make([]byte, 0, len(in.text)), make([]int, 0, len(in.ends))
		for i := range in.present {
			v.text = append(v.text, s.read(trimSpace(in.at(i)))...)
			v.ends = append(v.ends, len(v.text))
		}
		return len(v.present), nil
	}
	for i, x := range v.numbers {
		to, known := s.number(x)
		switch {
		case !known || !v.present[i]:
		case len(to) == 0:
			v.present[i], v.numbers[i] = false, 0
			v.absent++
		default:
			if v.numbers[i], wrong = parseNumber(to, '.', DateISO); wrong != nil {
				return i, wrong
			}
		}
	}
	return len(v.present), nil
}

// numbers parses texts as numbers into a Vector, after replacing words. Its results are those of
// translate.
func (s *replacements) numbers(texts, into *Vector) (records int, wrong *problem) {
	for i, present := range texts.present {
		text := s.read(trimSpace(texts.at(i)))
		if !present || len(text) == 0 {
			into.AddNull(true)
			continue
		}
		x, wrong := parseNumber(text, '.', DateISO)
		if wrong != nil {
			return i, wrong
		}
		into.AddNumber(x)
	}
	return len(texts.present), nil
}
