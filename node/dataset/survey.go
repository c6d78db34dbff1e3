package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/cosketch/cosketch/protocol/study"
)

// readCSV adds a CSV file's records. Rows that cannot be read are noted as problems and skipped.
func (s *survey) readCSV(ctx context.Context, name string, number int, open func(Options) (input, error)) error {
	lenient := s.options.ReadOptions
	lenient.assumeEncoding = true
	in, err := open(lenient)
	if err != nil {
		return err
	}
	defer in.Close()
	c := in.(*csvFile)
	c.slots = nil // every field
	r := &rowSurvey{survey: s, file: c, columns: s.begin(c.names, true), ids: make([]int, len(s.plan.schema.ID))}
	for i, name := range s.plan.schema.ID {
		r.ids[i] = slices.Index(c.names, name)
	}
	for ch := (*chunk)(nil); !r.broken; {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if ch, err = c.nextChunk(ch); err == io.EOF {
			break
		}
		if err == nil {
			err = r.read(ch)
		}
		if err != nil {
			return err
		}
	}
	s.rowProblems = append(s.rowProblems, r.problems()...)
	origin := &Origin{Name: name, Format: c.written.String(), Dialect: c.dialect}
	if !r.broken {
		origin, err = c.finish()
	}
	if err == nil {
		s.end(origin)
	}
	return err
}

// rowSurvey collects findings about a CSV file's rows.
type rowSurvey struct {
	*survey
	file    *csvFile
	columns []*tally
	ids     []int

	ragged    places // rows whose number of fields differs from the header's
	notUTF8   places // values that are not UTF-8
	utf8      bool   // other values are UTF-8 beyond ASCII
	undefined bool   // there are bytes that Windows-1252 does not define
	broken    bool   // nothing after flaw can be read
	flaw      *flaw
}

// read adds a chunk's records.
func (r *rowSurvey) read(ch *chunk) error {
	c := r.file
	sc := c.scanner(ch)
	for {
		fields, wrong := sc.next()
		record := at(c.number, sc.first)
		switch {
		case wrong != nil:
			r.broken, r.flaw = true, wrong
			return nil
		case fields == 0:
			return nil
		case fields != c.fields:
			r.ragged.add(record)
			continue
		}
		r.records++
		for i := range sc.cells {
			value := at(c.number, sc.cells[i].line)
			sc.cells[i].text = r.decode(sc.cells[i].text, value)
			r.columns[i].addText(trimSpace(sc.cells[i].text), value, &c.dialect)
		}
		r.addID(func(i int) []byte { return sc.cells[r.ids[i]].text }, record) // cells are UTF-8 here
		if err := r.flush(); err != nil {
			return err
		}
	}
}

// decode returns a value in UTF-8. A value that is not UTF-8 is taken for Windows-1252, which
// decodes all bytes.
func (r *rowSurvey) decode(text []byte, where position) []byte {
	c := r.file
	if isASCII(text) {
		return text
	}
	if c.dialect.Encoding == Windows1252 && !c.assumed {
		return Windows1252.decode(text)
	}
	if utf8.Valid(text) {
		r.utf8 = true
		return text
	}
	r.notUTF8.add(where)
	for _, b := range text {
		r.undefined = r.undefined || strings.IndexByte("\x81\x8d\x8f\x90\x9d", b) >= 0
	}
	return Windows1252.decode(text)
}

// problems returns the problems of the rows as a whole.
func (r *rowSurvey) problems() (out []Problem) {
	add := func(p Problem, hint string) {
		p.Hint, p.Stops = hint, true
		out = append(out, p)
	}
	if r.notUTF8.n > 0 || r.file.assumed {
		p := r.notUTF8.problem("", counted(r.notUTF8.n, "value is not UTF-8", "values are not UTF-8"), r.where)
		switch {
		case r.utf8:
			add(p, "other values are UTF-8: the file mixes two encodings; save it as UTF-8")
		case r.undefined:
			add(p, "and not windows-1252 either; save the file as UTF-8")
		default:
			p.Remedy.CSV.Encoding = Windows1252
			if r.notUTF8.n == 0 {
				p.What = "names of columns are not UTF-8"
			}
			add(p, "they seem to be windows-1252")
		}
	}
	if r.ragged.n > 0 {
		header := fmt.Sprintf("another number of fields than the %d of the header", r.file.fields)
		add(r.ragged.problem("", counted(r.ragged.n, "row has ", "rows have ")+header, r.where), r.file.fieldsHint())
	}
	if r.flaw != nil {
		var one places
		one.add(at(r.file.number, r.flaw.line))
		hint := "what follows was not looked at"
		if r.flaw.hint != "" {
			hint = r.flaw.hint + "; " + hint
		}
		add(one.problem("", r.flaw.message, r.where), hint)
	}
	return out
}

// flush passes the current record's id to the comparison.
func (s *survey) flush() error {
	seen := s.id.seen
	s.id.seen = s.id.seen[:0]
	return s.seen.add(seen)
}

// readParquet adds a Parquet file's records.
func (s *survey) readParquet(ctx context.Context, p path, number int) error {
	fields, columns, err := s.parquetColumns(p)
	if err != nil {
		return err
	}
	schema := s.plan.schema
	schema.Fields = fields
	in, err := openParquet(p, number, newPlan(schema, Replacements{}, s.options.ReadOptions), s.options.ReadOptions.Workers)
	if err != nil {
		return err
	}
	defer in.Close()
	for reuse := rows(nil); ; {
		if reuse, err = in.next(ctx, reuse); err == io.EOF {
			break
		}
		if err == nil {
			err = s.readTyped(reuse.(*typedRows), columns)
		}
		if err != nil {
			return err
		}
	}
	origin, err := in.finish()
	if err == nil {
		s.end(origin)
	}
	return err
}

// parquetColumns returns the readable columns by their own types, with their tallies. The tallies
// of other columns say what those hold.
func (s *survey) parquetColumns(p path) (fields []Field, readable []*tally, err error) {
	f, err := os.Open(p.name)
	if err != nil {
		return nil, nil, fileError(p.name, cannotOpen, err)
	}
	defer f.Close()
	q := &parquetFile{path: p}
	err = q.guard(func() error {
		file, err := parquet.OpenFile(f, p.info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return q.damaged(err)
		}
		top := file.Root().Columns()
		names := make([]string, len(top))
		for i, c := range top {
			names[i] = cleanName(c.Name())
		}
		for i, t := range s.begin(names, false) {
			kind, holds, date := parquetKind(top[i])
			t.holds, t.date, t.typed = holds, date, true
			if holds == "" {
				fields, readable = append(fields, Field{Name: names[i], Header: names[i], Kind: kind}), append(readable, t)
			}
		}
		return nil
	})
	return fields, readable, err
}

// parquetKind returns how a column is read, or what it holds if it cannot be read.
func parquetKind(c *parquet.Column) (kind study.ColumnKind, holds string, date bool) {
	if !c.Leaf() || c.MaxRepetitionLevel() > 0 {
		return "", "groups or lists", false
	}
	if logical := c.Type().LogicalType(); logical != nil {
		_, date = logical.Value.(*format.DateType)
	}
	if decode, _ := decoderFor(c.Type(), true); decode != nil {
		return study.Numeric, "", date
	}
	decode, holds := decoderFor(c.Type(), false)
	if decode != nil {
		holds = ""
	}
	return study.Categorical, holds, false
}

// readTyped adds typed records: first their ids, then the columns' values.
func (s *survey) readTyped(t *typedRows, columns []*tally) error {
	ids := t.columns[:len(s.plan.schema.ID)]
	for i := range t.records {
		record := at(t.number, t.first+int64(i))
		if column, wrong := s.addID(func(j int) []byte { return ids[j].at(i) }, record); wrong != nil {
			return t.fail(record.line(), column, wrong)
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	for j, c := range columns {
		v := &t.columns[len(ids)+j]
		for i := range t.records {
			record := at(t.number, t.first+int64(i))
			switch {
			case !v.present[i]:
			case t.plan.isNumber(len(ids) + j):
				c.addNumber(v.numbers[i], record)
			default:
				c.addText(trimSpace(v.at(i)), record, nil)
			}
		}
	}
	s.records += int64(t.records)
	return t.fault
}

// readQuery adds the records of a query or a sheet, and closes it.
func (s *survey) readQuery(ctx context.Context, q *query) (err error) {
	defer q.Close()
	names := q.names
	// Sinks of the query take the ids; the tallies take every value.
	for i, t := range s.begin(names, false) {
		watch := &watcher{tally: t, of: q}
		t.typed = q.sheet == nil
		if id, wanted := q.targets[i].(*sink); wanted {
			q.targets[i] = both{id, watch}
		} else {
			q.targets[i] = watch
		}
	}
	for reuse := rows(nil); ; {
		if reuse, err = q.next(ctx, reuse); err == io.EOF {
			break
		}
		if err == nil {
			err = s.readTyped(reuse.(*typedRows), nil)
		}
		if err != nil {
			return err
		}
	}
	origin, err := q.finish()
	if err == nil {
		s.end(origin)
	}
	return err
}

// watcher passes a query column's values to a tally.
type watcher struct {
	tally *tally
	of    *query
}

// Scan implements sql.Scanner. It never fails.
func (w *watcher) Scan(value any) error {
	record := at(w.of.number, w.of.current)
	switch v := value.(type) {
	case nil:
	case string:
		w.tally.addText(trimSpace([]byte(v)), record, &w.of.texts)
	case []byte:
		w.tally.addText(trimSpace(v), record, &w.of.texts)
	case padded:
		w.tally.addText([]byte(v.text), record, &w.of.texts)
	case int64:
		w.tally.addNumber(float64(v), record)
	case float64:
		w.tally.addNumber(v, record)
	case bool:
		x := 0.0
		if v {
			x = 1
		}
		w.tally.addNumber(x, record)
	case time.Time:
		h, m, sec := v.Clock()
		if h != 0 || m != 0 || sec != 0 || v.Nanosecond() != 0 {
			w.tally.holds = "times of day"
		}
		w.tally.date = true
		w.tally.addNumber(math.Floor(dayNumber(v)), record)
	default:
		w.tally.holds = "something else"
	}
	return nil
}
