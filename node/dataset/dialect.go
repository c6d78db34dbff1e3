package dataset

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Dialect says how a CSV file is written, and how a workbook's cells hold numbers and dates as
// text. An empty field is detected, if that can be done without risk.
type Dialect struct {
	// Delimiter separates values. Default: detected from the first rows.
	Delimiter Delimiter
	// Decimal is the decimal mark in numbers. Default: the comma if the first rows show it and the
	// delimiter is not a comma; otherwise the point.
	Decimal Decimal
	// Thousands separates groups of three digits before the decimal mark. Default: none. It is
	// never assumed, because it makes 1.234 another number. If it is point or comma, Decimal
	// defaults to the other one of the two.
	Thousands Thousands `json:",omitzero"`
	// Encoding is the encoding of the text. Default: UTF-8. Another is never assumed: no check
	// could confirm the guess, and a wrong one changes record ids.
	Encoding Encoding
	// Date is the form of a numeric column's dates, which are read as days since 1970-01-01.
	// Default: DateISO, which is understood beside every other form.
	Date DateForm
}

// Delimiter names the character between values.
type Delimiter string

const (
	Comma     Delimiter = "comma"
	Semicolon Delimiter = "semicolon"
	Tab       Delimiter = "tab"
	Bar       Delimiter = "bar"
)

// Delimiters lists every delimiter; detection prefers the earlier.
func Delimiters() []Delimiter { return []Delimiter{Comma, Semicolon, Tab, Bar} }

// mark returns the character itself.
func (d Delimiter) mark() byte {
	switch d {
	case Semicolon:
		return ';'
	case Tab:
		return '\t'
	case Bar:
		return '|'
	}
	return ','
}

// Decimal names the decimal mark.
type Decimal string

const (
	DecimalPoint Decimal = "point"
	DecimalComma Decimal = "comma"
)

// Decimals lists every decimal mark.
func Decimals() []Decimal { return []Decimal{DecimalPoint, DecimalComma} }

// mark returns the character itself.
func (d Decimal) mark() byte {
	if d == DecimalComma {
		return ','
	}
	return '.'
}

// Thousands names the mark between groups of three digits.
type Thousands string

const (
	ThousandsPoint      Thousands = "point"
	ThousandsComma      Thousands = "comma"
	ThousandsSpace      Thousands = "space" // including narrow and no-break spaces
	ThousandsApostrophe Thousands = "apostrophe"
)

// AllThousands lists every mark between groups of digits.
func AllThousands() []Thousands {
	return []Thousands{ThousandsPoint, ThousandsComma, ThousandsSpace, ThousandsApostrophe}
}

// marks returns the characters that are used for it.
func (t Thousands) marks() []string {
	switch t {
	case ThousandsPoint:
		return []string{"."}
	case ThousandsComma:
		return []string{","}
	case ThousandsSpace:
		return []string{" ", "\u00a0", "\u202f", "\u2009"}
	case ThousandsApostrophe:
		return []string{"'", "\u2019"}
	}
	return nil
}

// Check returns an error if one mark has two meanings.
func (d Dialect) Check() error {
	if d.Thousands != "" && string(d.Thousands) == string(d.Decimal) {
		return fmt.Errorf("%s is the decimal mark and the mark between thousands: it can be one of them", d.Decimal)
	}
	return nil
}

// Encoding names a character encoding. In each of them, ASCII characters are single bytes that
// occur in no other character, so rows and values can be found before decoding.
type Encoding string

const (
	UTF8        Encoding = "utf-8"
	Windows1252 Encoding = "windows-1252"
)

// Encodings lists every encoding.
func Encodings() []Encoding { return []Encoding{UTF8, Windows1252} }

// decode returns the text in UTF-8: the same slice if nothing has to change, otherwise a copy.
// Invalid text stays invalid.
func (e Encoding) decode(text []byte) []byte {
	if e != Windows1252 || isASCII(text) {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for _, b := range text {
		out = utf8.AppendRune(out, charmap.Windows1252.DecodeByte(b))
	}
	return out
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// DateForm names a way to write dates.
type DateForm string

const (
	DateISO     DateForm = "YYYY-MM-DD"
	DateDots    DateForm = "DD.MM.YYYY"
	DateSlashes DateForm = "DD/MM/YYYY"
	DateUS      DateForm = "MM/DD/YYYY"
)

// DateForms lists every form of dates.
func DateForms() []DateForm { return []DateForm{DateISO, DateDots, DateSlashes, DateUS} }

// YAML returns the dialect as the value of a dataset's key csv in a site file. Empty fields are
// left out.
func (d Dialect) YAML() string {
	var parts []string
	for _, part := range [][2]string{{"delimiter", string(d.Delimiter)}, {"decimal", string(d.Decimal)}, {"thousands", string(d.Thousands)}, {"encoding", string(d.Encoding)}, {"date", string(d.Date)}} {
		if part[1] != "" {
			parts = append(parts, part[0]+": "+part[1])
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// With returns d overridden by the fields that other sets.
func (d Dialect) With(other Dialect) Dialect {
	return Dialect{
		Delimiter: cmp.Or(other.Delimiter, d.Delimiter), Decimal: cmp.Or(other.Decimal, d.Decimal), Thousands: cmp.Or(other.Thousands, d.Thousands),
		Encoding: cmp.Or(other.Encoding, d.Encoding), Date: cmp.Or(other.Date, d.Date),
	}
}

// Common returns the fields on which the dialects agree.
func (d Dialect) Common(other Dialect) Dialect {
	if d.Delimiter != other.Delimiter {
		d.Delimiter = ""
	}
	if d.Decimal != other.Decimal {
		d.Decimal = ""
	}
	if d.Thousands != other.Thousands {
		d.Thousands = ""
	}
	if d.Encoding != other.Encoding {
		d.Encoding = ""
	}
	if d.Date != other.Date {
		d.Date = ""
	}
	return d
}

// String describes the dialect: "semicolon, decimal comma, utf-8".
func (d Dialect) String() string {
	parts := []string{string(d.Delimiter), "decimal " + string(d.Decimal), string(d.Encoding)}
	if d.Delimiter == "" {
		parts[0] = "any delimiter"
	}
	if d.Decimal == "" {
		parts[1] = "any decimal mark"
	}
	if d.Encoding == "" {
		parts[2] = string(UTF8)
	}
	if d.Thousands != "" {
		parts[1] += ", thousands " + string(d.Thousands)
	}
	if d.Date != "" && d.Date != DateISO {
		parts = append(parts, "dates "+string(d.Date))
	}
	return strings.Join(parts, ", ")
}
