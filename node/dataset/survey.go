package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/cosketch/cosketch/protocol/study"
)

// readCSV adds a CSV file's records.
func (s *survey) readCSV(ctx context.Context, p path, number int, fixed Dialect) error {
	in, err := openCSV(p, number, s.plan, fixed, s.options.Reading)
	if err != nil {
		return err
	}
	defer in.Close()
	c := in.(*csvFile)
	c.slots = nil // every field
	columns, ids := s.begin(c.names, true), make([]int, len(s.plan.schema.ID))
	for i, name := range s.plan.schema.ID {
		ids[i] = slices.Index(c.names, name)
	}
	for ch := (*chunk)(nil); ; {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("reading %s: %w", p.name, err)
		}
		if ch, err = c.nextChunk(ch); err == io.EOF {
			break
		}
		if err == nil {
			err = s.readChunk(c, ch, ids, columns)
		}
		if err != nil {
			return err
		}
	}
	origin, err := c.finish()
	if err == nil {
		s.end(origin)
	}
	return err
}

// readChunk adds a chunk's records.
func (s *survey) readChunk(c *csvFile, ch *chunk, ids []int, columns []*tally) error {
	sc := c.scanner(ch)
	for {
		fields, wrong := sc.next()
		switch {
		case wrong != nil:
			return c.fail(wrong.line, "", wrong.message, wrong.hint)
		case fields == 0:
			return nil
		case fields != c.fields:
			return c.fail(sc.first, "", fmt.Sprintf("%d fields where the header has %d", fields, c.fields), c.fieldsHint())
		}
		record := at(c.number, sc.first)
		s.records++
		for i := range sc.cells {
			text := c.dialect.Encoding.decode(sc.cells[i].text)
			if !utf8.Valid(text) {
				return c.fail(sc.cells[i].line, columns[i].name, notUTF8.message, hintEncoding)
			}
			sc.cells[i].text = text
			columns[i].addText(trimSpace(text), record, &c.dialect)
		}
		s.addID(func(i int) []byte { return sc.cells[ids[i]].text }, record) // they are UTF-8
		if err := s.flush(); err != nil {
			return err
		}
	}
}

// flush hands the id in hand to the comparison.
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
	in, err := openParquet(p, number, newPlan(schema, s.options.Reading), s.options.Reading.Workers)
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

// parquetColumns returns the columns that can be read, each as what it is, and the
// tallies of those; the others' say what they hold.
func (s *survey) parquetColumns(p path) (fields []Field, readable []*tally, err error) {
	f, err := os.Open(p.name)
	if err != nil {
		return nil, nil, fileError(p.name, "cannot be opened", err)
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
			t.holds, t.date = holds, date
			if holds == "" {
				fields, readable = append(fields, Field{Name: names[i], Header: names[i], Kind: kind}), append(readable, t)
			}
		}
		return nil
	})
	return fields, readable, err
}

// parquetKind says how a column is read, or else what it holds.
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

// readTyped adds typed records: their ids come first, then the columns' values.
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

// readQuery adds a query's records.
func (s *survey) readQuery(ctx context.Context, from *SQL) error {
	q, err := openSQL(ctx, from, s.plan)
	if err != nil {
		return err
	}
	defer q.Close()
	names, err := q.rows.Columns()
	if err != nil {
		return q.explain("the query fails", err)
	}
	for i := range names {
		names[i] = cleanName(names[i])
	}
	// While the query takes the ids, the tallies take every value.
	for i, t := range s.begin(names, false) {
		watch := &watcher{tally: t}
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

// watcher takes a column's values of a query into a tally.
type watcher struct {
	tally *tally
	row   int64
}

// Scan implements sql.Scanner. It refuses nothing.
func (w *watcher) Scan(value any) error {
	w.row++
	record := at(0, w.row)
	switch v := value.(type) {
	case nil:
	case string:
		w.tally.addText(trimSpace([]byte(v)), record, nil)
	case []byte:
		w.tally.addText(trimSpace(v), record, nil)
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
