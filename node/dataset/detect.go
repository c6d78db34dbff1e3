package dataset

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// fileFormat is how a file is written.
type fileFormat struct {
	Parquet     bool        // the rest is about CSV files
	Dialect     Dialect     // complete
	Compression compression // of the whole file
	Mark        bool        // a byte order mark begins the text
	UTF16       bool        // the file is, and its text was decoded before all else
	CRLF        bool        // lines end as on Windows
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

// format looks at the beginning of the text and says how it is written. What is fixed
// is taken as given. An encoding other than UTF-8 is never assumed.
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

// sampleRows is how many rows the detection looks at.
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

// firstRows splits off at most n whole rows that are not blank, line breaks in
// quotes included. The last row of the sample counts only if it is the only one.
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

// detectDelimiter returns the delimiter that splits all rows into the same number
// of fields, the most of them. Where none does, it is the one that splits the
// header into the most, so that the row at fault is reported and not the header.
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

// splitRow cuts a row at the delimiters outside quotes, without judging it.
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
	// thousands could as well be a number with commas between groups of digits.
	thousands = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2},[0-9]{3}$`)
)

// commaDecimals reports whether the rows hold numbers with a decimal comma, one of
// them at least beyond doubt, and none with a decimal point.
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
