package dataset

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// fileFormat says how a file is written.
type fileFormat struct {
	Parquet     bool        // the other fields are about CSV files
	Dialect     Dialect     // complete
	Compression compression // of the whole file
	Mark        bool        // a byte order mark begins the text
	UTF16       bool        // the file is UTF-16; the other fields describe it after decoding
	CRLF        bool        // lines end with CRLF
}

// String describes the file: "CSV, gzip, semicolon, decimal comma, utf-8, CRLF".
func (f fileFormat) String() string {
	if f.Parquet {
		return "Parquet"
	}
	parts := []string{"CSV"}
	if f.Compression != "" {
		parts = append(parts, string(f.Compression))
	}
	parts = append(parts, f.Dialect.String())
	if f.Mark {
		parts = append(parts, "byte order mark")
	}
	if f.UTF16 {
		parts = append(parts, "from UTF-16")
	}
	if f.CRLF {
		parts = append(parts, "CRLF")
	}
	return strings.Join(parts, ", ")
}

// format detects how the text is written from its beginning. What fixed gives is not detected. An
// encoding other than UTF-8 is never assumed.
func (t *text) format(fixed Dialect) (f fileFormat, sample []byte, err error) {
	if sample, err = t.sample(); err != nil {
		return fileFormat{}, nil, err
	}
	if t.utf16 && fixed.Encoding != "" && fixed.Encoding != UTF8 {
		return fileFormat{}, nil, &Error{File: t.file.name, Message: fmt.Sprintf("text in UTF-16, and %s is fixed", fixed.Encoding), Hint: "leave the encoding out"}
	}
	return fileFormat{
		UTF16: t.utf16, Dialect: detect(sample, fixed), Compression: t.compression, Mark: t.marked, CRLF: bytes.Contains(sample, []byte("\r\n")),
	}, sample, nil
}

// sampleRows is how many rows the detection examines.
const sampleRows = 200

// detect completes a dialect from the beginning of a text.
func detect(sample []byte, fixed Dialect) Dialect {
	rows := firstRows(sample, sampleRows)
	d := fixed
	if d.Delimiter == "" {
		d.Delimiter = detectDelimiter(rows)
	}
	switch {
	case d.Decimal != "":
	case d.Thousands == ThousandsPoint:
		d.Decimal = DecimalComma
	default:
		d.Decimal = DecimalPoint
		if d.Thousands != ThousandsComma && d.Delimiter != Comma && len(rows) > 1 && commaDecimals(rows[1:], d) {
			d.Decimal = DecimalComma
		}
	}
	if d.Encoding == "" {
		d.Encoding = UTF8
	}
	if d.Date == "" {
		d.Date = DateISO
	}
	return d
}

// firstRows splits off at most n whole non-blank rows; quoted line breaks do not end a row. The
// last row of the sample counts only if it is the only one.
func firstRows(sample []byte, n int) [][]byte {
	var rows [][]byte
	quoted, start := false, 0
	for i, b := range sample {
		switch {
		case b == '"':
			quoted = !quoted
		case b == '\n' && !quoted:
			if row := bytes.TrimRight(sample[start:i], "\r"); len(row) > 0 {
				rows = append(rows, row)
			}
			start = i + 1
			if len(rows) == n {
				return rows
			}
		}
	}
	if len(rows) == 0 && start < len(sample) {
		rows = append(rows, sample[start:])
	}
	return rows
}

// detectDelimiter returns the delimiter that splits all rows into an equal number of fields,
// preferring more fields. If none does, it returns the one that splits the header into the most
// fields, so that the faulty row is reported and not the header.
func detectDelimiter(rows [][]byte) Delimiter {
	best, most, agreed := Comma, 0, false
	if len(rows) == 0 {
		return best
	}
	for _, d := range Delimiters() {
		count := len(splitRow(rows[0], d.mark()))
		if count < 2 {
			continue
		}
		agrees := true
		for _, row := range rows[1:] {
			agrees = agrees && len(splitRow(row, d.mark())) == count
		}
		if agrees && !agreed || agrees == agreed && count > most {
			best, most, agreed = d, count, agrees
		}
	}
	return best
}

// splitRow splits a row at the delimiters outside quotes, without checking its syntax.
func splitRow(row []byte, mark byte) [][]byte {
	var fields [][]byte
	quoted, start := false, 0
	for i, b := range row {
		switch {
		case b == '"':
			quoted = !quoted
		case b == mark && !quoted:
			fields = append(fields, row[start:i])
			start = i + 1
		}
	}
	return append(fields, row[start:])
}

var (
	withComma = regexp.MustCompile(`^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$`)
	withPoint = regexp.MustCompile(`^[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?$`)
	// thousands may be a number with a comma as thousands separator.
	thousands = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2},[0-9]{3}$`)
)

// commaDecimals reports whether the rows hold numbers with a decimal comma, at least one of them
// unambiguous, and none with a decimal point.
func commaDecimals(rows [][]byte, d Dialect) bool {
	found := false
	for _, row := range rows {
		for _, field := range splitRow(row, d.Delimiter.mark()) {
			field = bytes.Trim(field, " \"")
			if plain, ok := d.Thousands.ungroup(d.Encoding.decode(field), ','); ok {
				found = found || bytes.IndexByte(plain, ',') >= 0
				continue
			}
			if withPoint.Match(field) {
				return false
			}
			found = found || withComma.Match(field) && !thousands.Match(field)
		}
	}
	return found
}
