package dataset

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	slashpath "path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A workbook is a zip file of XML parts (ECMA-376, Office Open XML). The workbook part, its
// relationships, styles and shared strings are read whole, and the sheet as a stream. Numbers are
// read as stored, not as displayed; a number whose style is that of a date is a date.

const (
	// mostShared bounds the shared strings, in bytes.
	mostShared = 512 << 20
	// mostPart bounds the other parts that are read whole, in bytes.
	mostPart = 16 << 20
	// mostColumn is the last column that a sheet can have.
	mostColumn = 1 << 14
)

// workbook is a workbook being read.
type workbook struct {
	zip    *zip.ReadCloser
	shared []string
	styles []cellStyle
	since  time.Time // day 0
	odd    bool      // day 60 is 29 February 1900, which never was
}

// cellStyle is what a style says about numbers.
type cellStyle struct {
	date   bool
	digits int // minimum, padded with leading zeros; 0: as stored
}

// sheet iterates over the rows of a sheet.
type sheet struct {
	*workbook
	name    string
	part    io.ReadCloser
	bounded *boundedReader
	xml     *xml.Decoder
	names   []string
	row     int64 // its number in the sheet
	cells   []any // of the row, by column; nil for an empty cell
	err     error
}

// padded is a whole number displayed with leading zeros.
type padded struct {
	number int64
	text   string
}

// errPart says that a file is not a workbook. Details of its XML would help nobody.
var errPart = errors.New("a part of the workbook is missing or damaged")

// openSheet opens a sheet, by default the first, and reads the row of names.
func openSheet(file, name string, longest int64) (*sheet, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	w := &workbook{zip: z}
	s, err := w.open(name, longest)
	if err != nil {
		z.Close()
		return nil, err
	}
	return s, nil
}

// relation is an entry of a part's relationships.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
}

func (w *workbook) open(name string, longest int64) (*sheet, error) {
	roots, err := w.relations("")
	if err != nil {
		return nil, err
	}
	book := "xl/workbook.xml"
	for _, r := range roots {
		if strings.HasSuffix(r.Type, "/officeDocument") {
			book = r.Target
		}
	}
	var parts struct {
		Properties struct {
			From1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name string     `xml:"name,attr"`
			Any  []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := w.part(book, &parts); err != nil {
		return nil, err
	}
	w.since, w.odd = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC), true
	if from := parts.Properties.From1904; from == "1" || from == "true" {
		w.since, w.odd = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC), false
	}
	relations, err := w.relations(book)
	if err != nil {
		return nil, err
	}
	at := 0
	if name != "" {
		var names []string
		for _, one := range parts.Sheets {
			names = append(names, cleanName(one.Name))
		}
		if at = slices.Index(names, cleanName(name)); at < 0 {
			return nil, &Error{Message: fmt.Sprintf("no sheet %q", name), Hint: "the workbook has " + quoted(names[:min(len(names), 20)], ", ")}
		}
	}
	if at >= len(parts.Sheets) {
		return nil, errPart
	}
	target := ""
	for _, r := range relations {
		var err error
		switch {
		case slices.ContainsFunc(parts.Sheets[at].Any, func(a xml.Attr) bool { return a.Name.Local == "id" && a.Value == r.ID }):
			target = r.Target
		case strings.HasSuffix(r.Type, "/sharedStrings"):
			err = w.readShared(r.Target)
		case strings.HasSuffix(r.Type, "/styles"):
			err = w.readStyles(r.Target)
		}
		if err != nil {
			return nil, err
		}
	}
	part, err := w.zip.Open(target)
	if err != nil {
		return nil, errPart
	}
	s := &sheet{workbook: w, name: parts.Sheets[at].Name, part: part, bounded: &boundedReader{from: part, most: longest}}
	s.xml = xml.NewDecoder(s.bounded)
	if err := s.header(); err != nil {
		part.Close()
		return nil, err
	}
	return s, nil
}

// part decodes a whole part.
func (w *workbook) part(name string, into any) error {
	f, err := w.zip.Open(name)
	if err != nil {
		return errPart
	}
	defer f.Close()
	if xml.NewDecoder(io.LimitReader(f, mostPart)).Decode(into) != nil {
		return errPart
	}
	return nil
}

// relations returns the relationships of a part; those of the package if of is empty.
func (w *workbook) relations(of string) ([]relation, error) {
	dir, base := slashpath.Split(of)
	var list struct {
		Relations []relation `xml:"Relationship"`
	}
	if err := w.part(dir+"_rels/"+base+".rels", &list); err != nil {
		return nil, err
	}
	for i, r := range list.Relations {
		if absolute, is := strings.CutPrefix(r.Target, "/"); is {
			list.Relations[i].Target = slashpath.Clean(absolute)
		} else {
			list.Relations[i].Target = slashpath.Join(dir, r.Target)
		}
	}
	return list.Relations, nil
}

// readShared reads the shared strings.
func (w *workbook) readShared(name string) error {
	f, err := w.zip.Open(name)
	if err != nil {
		return errPart
	}
	defer f.Close()
	bounded := &boundedReader{from: f, most: mostPart}
	d, held := xml.NewDecoder(bounded), 0
	for {
		bounded.used = 0
		token, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return errPart
		}
		if start, is := token.(xml.StartElement); is && start.Name.Local == "si" {
			text, err := readText(d, "si")
			if err != nil {
				return errPart
			}
			if held += len(text) + 16; held > mostShared {
				return &Error{Message: fmt.Sprintf("its texts take more than %d MiB", mostShared>>20), Hint: hintSheet}
			}
			w.shared = append(w.shared, text)
		}
	}
}

// readText reads to the end of an element and returns its text without phonetic guides.
func readText(d *xml.Decoder, element string) (string, error) {
	var text strings.Builder
	within, spoken := false, 0
	for {
		token, err := d.RawToken()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "t":
				within = true
			case "rPh":
				spoken++
			}
		case xml.EndElement:
			switch t.Name.Local {
			case element:
				return text.String(), nil
			case "t":
				within = false
			case "rPh":
				spoken--
			}
		case xml.CharData:
			if within && spoken == 0 {
				text.Write(t)
			}
		}
	}
}

// readStyles reads the styles of numbers.
func (w *workbook) readStyles(name string) error {
	var sheet struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := w.part(name, &sheet); err != nil {
		return err
	}
	own := map[int]string{}
	for _, f := range sheet.Formats {
		own[f.ID] = f.Code
	}
	for _, c := range sheet.Cells {
		code, isOwn := own[c.Format]
		style := cellStyle{date: !isOwn && builtInDate(c.Format)}
		if isOwn {
			style.date = dateCode(code)
			if strings.Trim(code, "0") == "" {
				style.digits = len(code)
			}
		}
		w.styles = append(w.styles, style)
	}
	return nil
}

// builtInDate reports whether a built-in format is that of a date or a time (ECMA-376, 18.8.30).
func builtInDate(id int) bool {
	return id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 45 && id <= 47 || id >= 50 && id <= 58
}

// dateCode reports whether a format code is that of a date or a time: it has a date letter outside
// quotes and brackets.
func dateCode(code string) bool {
	quoted, bracket := false, false
	for i := 0; i < len(code); i++ {
		switch b := code[i]; {
		case quoted:
			quoted = b != '"'
		case bracket:
			bracket = b != ']'
		case b == '"':
			quoted = true
		case b == '[':
			bracket = true
		case b == '\\', b == '_', b == '*':
			i++ // skip the escaped or padding character
		case b == ';':
			return false // the rest formats negative numbers
		case strings.IndexByte("ydmhsYDMHS", b) >= 0:
			return true
		}
	}
	return false
}

// header reads to the first row with cells, which holds the names.
func (s *sheet) header() error {
	if !s.Next() {
		if s.err != nil {
			return s.err
		}
		return &Error{Message: fmt.Sprintf("sheet %q is empty", s.name)}
	}
	for _, cell := range s.cells {
		name := ""
		switch v := cell.(type) {
		case string:
			name = v
		case int64, float64:
			name = fmt.Sprint(v)
		case padded:
			name = v.text
		case time.Time:
			name = v.Format(time.DateOnly)
		}
		s.names = append(s.names, cleanName(name))
	}
	return nil
}

// Next advances to the next row that has a cell in a named column.
func (s *sheet) Next() bool {
	for s.err == nil {
		token, err := s.xml.RawToken()
		s.bounded.used = 0
		if err != nil {
			if err != io.EOF {
				s.err = err
			}
			return false
		}
		if start, is := token.(xml.StartElement); is && start.Name.Local == "row" {
			s.row++
			if number := attribute(start, "r"); number != "" {
				if s.row, s.err = strconv.ParseInt(number, 10, 40); s.err != nil {
					return false
				}
			}
			if s.err = s.readRow(); s.err == nil && slices.ContainsFunc(s.cells, func(cell any) bool { return cell != nil }) {
				return true
			}
		}
	}
	return false
}

func attribute(of xml.StartElement, name string) string {
	for _, a := range of.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// readRow reads the cells of the current row.
func (s *sheet) readRow() error {
	clear(s.cells[:cap(s.cells)])
	s.cells = s.cells[:len(s.names)]
	for column := 0; ; {
		token, err := s.xml.RawToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.EndElement:
			if t.Name.Local == "row" {
				return nil
			}
		case xml.StartElement:
			if t.Name.Local != "c" {
				continue
			}
			if place := attribute(t, "r"); place != "" {
				if column = columnOf(place); column < 0 {
					return errPart
				}
			}
			cell, err := s.readCell(attribute(t, "t"), attribute(t, "s"))
			if err != nil {
				return err
			}
			if s.names == nil && cell != nil { // the row of names sets the width
				for len(s.cells) <= column {
					s.cells = append(s.cells, nil)
				}
			}
			if column < len(s.cells) { // cells beyond the named columns are ignored
				s.cells[column] = cell
			}
			column++
		}
	}
}

// columnOf returns the column, from 0, of a cell reference such as AB12; -1 if it is not one.
func columnOf(place string) int {
	n := 0
	for _, r := range place {
		switch {
		case r >= 'A' && r <= 'Z' && n <= mostColumn:
			n = n*26 + int(r-'A') + 1
		case r >= '0' && r <= '9' && n > 0 && n <= mostColumn:
			return n - 1
		default:
			return -1
		}
	}
	return -1
}

// readCell reads a cell to its end; nil if it is empty.
func (s *sheet) readCell(kind, style string) (cell any, err error) {
	var value strings.Builder
	within := false
	for {
		token, err := s.xml.RawToken()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "v":
				within = true
			case "is":
				text, err := readText(s.xml, "is")
				return cellText(text), errors.Join(err, s.skipTo("c"))
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "v":
				within = false
			case "c":
				return s.value(kind, style, value.String())
			}
		case xml.CharData:
			if within {
				value.Write(t)
			}
		}
	}
}

// skipTo reads to the end of an element.
func (s *sheet) skipTo(element string) error {
	for {
		token, err := s.xml.RawToken()
		if err != nil {
			return err
		}
		if end, is := token.(xml.EndElement); is && end.Name.Local == element {
			return nil
		}
	}
}

func cellText(text string) any {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return text
}

// value returns what a cell holds: a text, a number, a date or a boolean. An error such as #N/A is
// returned as text.
func (s *sheet) value(kind, style, text string) (any, error) {
	switch kind {
	case "s":
		at, err := strconv.Atoi(text)
		if err != nil || at < 0 || at >= len(s.shared) {
			return nil, errPart
		}
		return cellText(s.shared[at]), nil
	case "b":
		return text == "1", nil
	case "str", "e", "d":
		return cellText(text), nil
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, errPart
	}
	var as cellStyle
	if at, err := strconv.Atoi(cmp.Or(style, "0")); err == nil && at >= 0 && at < len(s.styles) {
		as = s.styles[at]
	}
	whole := x == math.Trunc(x) && math.Abs(x) < 1<<53
	switch {
	case as.date && x >= 0 && x < 1<<22:
		return s.date(x), nil
	case whole && as.digits > 0 && x >= 0:
		return padded{int64(x), fmt.Sprintf("%0*d", as.digits, int64(x))}, nil
	case whole:
		return int64(x), nil
	}
	return x, nil
}

// date converts a day number to a date. Excel's day numbers before 1 March 1900 are off by one.
func (s *sheet) date(days float64) time.Time {
	whole := math.Floor(days)
	if s.odd && whole < 60 {
		whole++
	}
	return s.since.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round((days-math.Floor(days))*86400)) * time.Second)
}

// Scan stores the row's cells in targets, like database/sql.
func (s *sheet) Scan(targets ...any) error {
	for i, target := range targets {
		if err := target.(interface{ Scan(any) error }).Scan(s.cells[i]); err != nil {
			return err
		}
	}
	return nil
}

// Err returns the error that ended the rows early, if any.
func (s *sheet) Err() error { return s.err }

// Close closes the workbook.
func (s *sheet) Close() error { return errors.Join(s.part.Close(), s.zip.Close()) }

// boundedReader fails once more than most bytes were read since its user last reset used.
type boundedReader struct {
	from       io.Reader
	used, most int64
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.used > b.most {
		return 0, errPart
	}
	n, err := b.from.Read(p)
	b.used += int64(n)
	return n, err
}
