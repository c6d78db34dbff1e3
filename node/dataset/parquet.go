package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// parquetFile reads a Parquet file page by page, several columns in parallel; one page of each
// column is in memory.
type parquetFile struct {
	path
	plan    *plan
	number  int // of the file in the source
	workers int // goroutines that decode
	file    *os.File
	groups  []parquet.RowGroup
	columns []parquetColumn
	rows    int64 // in all
	read    int64 // rows read so far
	left    int64 // of the current row group
}

// parquetColumn is one wanted column, and the position in a row group.
type parquetColumn struct {
	index    int // of the leaf
	decoder  decoder
	required byte // the definition level of a present value
	words    *replacements
	texts    *Vector // texts to be parsed as numbers; or nil
	pages    parquet.Pages

	page    parquet.Page
	levels  []byte // of the page; nil if every value is present
	records int    // of the page
	at      int    // the next of them
	value   int    // the next of those that are present
}

func openParquet(p path, number int, pl *plan, workers int) (_ input, err error) {
	f, err := os.Open(p.name)
	if err != nil {
		return nil, fileError(p.name, cannotOpen, err)
	}
	q := &parquetFile{path: p, plan: pl, number: number, workers: workers, file: f}
	if err := q.guard(q.begin); err != nil {
		f.Close()
		return nil, err
	}
	return q, nil
}

// guard runs a step of reading. The library panics on some damaged files; guard turns that into an
// error.
func (q *parquetFile) guard(step func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = q.damaged(nil)
		}
	}()
	return step()
}

func (q *parquetFile) damaged(err error) error {
	return &Error{File: q.name, Message: unreadable, Hint: hintComplete, Err: err}
}

const (
	unreadable   = "not a readable Parquet file"
	hintComplete = "is it complete? write or copy it again"
)

// begin finds the schema's columns and checks their types.
func (q *parquetFile) begin() error {
	f, err := parquet.OpenFile(q.file, q.info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return q.damaged(err)
	}
	q.groups, q.rows = f.RowGroups(), f.NumRows()
	if limit := q.plan.schema.MaxRecords; q.rows > limit {
		return &Error{File: q.name, Message: fmt.Sprintf("%d records, more than %d, the limit", q.rows, limit), Hint: hintLimit}
	}
	h := header{file: q.name}
	top := f.Root().Columns()
	for _, c := range top {
		h.names = append(h.names, cleanName(c.Name()))
	}
	positions, err := h.locate(q.plan.headers)
	if err != nil {
		return err
	}
	for i, position := range positions {
		c := top[position]
		decode, holds := decoder(nil), "groups or lists"
		if c.Leaf() && c.MaxRepetitionLevel() == 0 {
			decode, holds = decoderFor(c.Type(), q.plan.isNumber(i))
		}
		column := parquetColumn{index: c.Index(), required: byte(c.MaxDefinitionLevel())}
		if field := i - len(q.plan.schema.ID); field >= 0 {
			column.words = q.plan.columns[field].words
		}
		if decode == nil && column.words != nil && holds == HoldsText {
			decode, _ = decoderFor(c.Type(), false)
			column.texts = &Vector{}
		}
		if decode == nil {
			return q.plan.wrongType(q.name, 0, i, holds)
		}
		column.decoder = decode
		q.columns = append(q.columns, column)
	}
	return nil
}

func (q *parquetFile) next(ctx context.Context, reuse rows) (out rows, err error) {
	err = q.guard(func() error {
		out, err = q.nextRows(ctx, reuse)
		return err
	})
	return out, err
}

func (q *parquetFile) nextRows(ctx context.Context, reuse rows) (rows, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for q.left == 0 {
		if len(q.groups) == 0 {
			return nil, io.EOF
		}
		q.closePages()
		group := q.groups[0]
		q.groups = q.groups[1:]
		q.left = group.NumRows()
		for i, chunks := 0, group.ColumnChunks(); i < len(q.columns); i++ {
			q.columns[i].begin(chunks[q.columns[i].index])
		}
	}
	t := newTypedRows(q.plan, reuse)
	t.from, t.number, t.first = q.name, q.number, q.read+1
	t.records = int(min(q.left, int64(q.plan.batchRows())))
	if err := q.fill(t); err != nil {
		return nil, err
	}
	q.left -= int64(t.records)
	q.read += int64(t.records)
	for i := range q.columns {
		t.translate(i, q.columns[i].words, q.columns[i].texts)
	}
	return t, nil
}

// fill decodes the next values of all columns, several columns in parallel. Each column keeps its
// own position, so the result does not depend on scheduling.
func (q *parquetFile) fill(t *typedRows) error {
	failures := make([]error, len(q.columns))
	parallel.Share(len(q.columns), q.workers, func(_, i int) {
		failures[i] = q.guard(func() error {
			if into := q.columns[i].texts; into != nil {
				into.reset()
				return q.columns[i].fill(into, t.records, false)
			}
			return q.columns[i].fill(&t.columns[i], t.records, q.plan.isNumber(i))
		})
	})
	for i, err := range failures {
		if err != nil {
			return &Error{File: q.name, Column: q.plan.headers[i], Message: unreadable, Hint: hintComplete, Err: err}
		}
	}
	return nil
}

// begin starts at the beginning of a row group.
func (c *parquetColumn) begin(chunk parquet.ColumnChunk) {
	c.pages = chunk.Pages()
	c.page, c.records, c.at, c.value = nil, 0, 0, 0
}

// fill appends the next n values.
func (c *parquetColumn) fill(v *Vector, n int, isNumber bool) error {
	for n > 0 {
		if c.at == c.records {
			if err := c.turn(); err != nil {
				return err
			}
			continue
		}
		take := min(n, c.records-c.at)
		if err := c.copy(v, take, isNumber); err != nil {
			return err
		}
		n -= take
	}
	return nil
}

// turn reads the next page.
func (c *parquetColumn) turn() error {
	c.release()
	page, err := c.pages.ReadPage()
	if err == io.EOF {
		return io.ErrUnexpectedEOF // the row group has more rows than the column
	}
	if err != nil {
		return err
	}
	c.page, c.records, c.at, c.value = page, int(page.NumValues()), 0, 0
	c.levels = nil
	if page.NumNulls() > 0 {
		c.levels = page.DefinitionLevels()
		if len(c.levels) != c.records {
			return errors.New("definition levels are missing")
		}
	}
	return nil
}

// copy appends n values of the current page, in runs of present values.
func (c *parquetColumn) copy(v *Vector, n int, isNumber bool) error {
	for end := c.at + n; c.at < end; {
		run := end - c.at
		if c.levels != nil {
			if c.levels[c.at] != c.required {
				v.AddNull(isNumber)
				c.at++
				continue
			}
			run = 1
			for c.at+run < end && c.levels[c.at+run] == c.required {
				run++
			}
		}
		if err := c.decoder(v, c.page, c.value, run); err != nil {
			return err
		}
		c.at += run
		c.value += run
	}
	return nil
}

func (c *parquetColumn) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
}

func (q *parquetFile) closePages() {
	for i := range q.columns {
		q.columns[i].release()
		if q.columns[i].pages != nil {
			q.columns[i].pages.Close()
			q.columns[i].pages = nil
		}
	}
}

func (q *parquetFile) finish() (*Origin, error) {
	if err := q.path.unchanged(); err != nil {
		return nil, err
	}
	return &Origin{Name: q.name, Format: fileFormat{Parquet: true}.String()}, nil
}

// progress scales the share of records read to the file's size, since the bytes of unwanted columns
// are never read.
func (q *parquetFile) progress() int64 {
	if q.rows == 0 {
		return q.info.Size()
	}
	return int64(float64(q.info.Size()) * (float64(q.read) / float64(q.rows)))
}

func (q *parquetFile) Close() error {
	err := q.guard(func() error { q.closePages(); return nil })
	return errors.Join(err, q.file.Close())
}

// decoder appends n values of a page, starting at index from; both count present values.
type decoder func(v *Vector, page parquet.Page, from, n int) error

// HoldsText is what a column of strings holds.
const HoldsText = "text"

// decoderFor returns the decoder for a column; nil, and what the column holds, if that is not
// wanted. Numbers are booleans (0 and 1), integers, floating point, decimals in integers, and dates
// (days since 1970-01-01). Texts are strings and integers.
func decoderFor(t parquet.Type, isNumber bool) (_ decoder, holds string) {
	var divisor, signed = 1.0, true
	if logical := t.LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *format.DecimalType:
			if l.Scale < 0 || int(l.Scale) >= len(exactPowers) || !isNumber {
				return nil, "decimals"
			}
			divisor = exactPowers[l.Scale]
		case *format.DateType:
			if !isNumber {
				return nil, "dates"
			}
		case *format.TimeType, *format.TimestampType:
			return nil, "times"
		case *format.IntType:
			signed = l.IsSigned
		}
	}
	switch kind := t.Kind(); {
	case kind == parquet.Boolean && isNumber:
		return decodeBooleans, ""
	case kind == parquet.Int32 && isNumber:
		return int32Numbers(divisor, signed), ""
	case kind == parquet.Int64 && isNumber:
		return int64Numbers(divisor, signed), ""
	case kind == parquet.Float && isNumber:
		return decodeFloats, ""
	case kind == parquet.Double && isNumber:
		return decodeDoubles, ""
	case kind == parquet.Int32 && !isNumber:
		return int32Texts(signed), ""
	case kind == parquet.Int64 && !isNumber && signed:
		return decodeInt64Texts, ""
	case kind == parquet.ByteArray && !isNumber:
		return decodeTexts, ""
	case kind == parquet.ByteArray || kind == parquet.FixedLenByteArray:
		if divisor != 1 {
			return nil, "decimals in bytes"
		}
		if kind == parquet.FixedLenByteArray {
			return nil, "bytes"
		}
		return nil, HoldsText
	case kind == parquet.Boolean:
		return nil, "booleans"
	case kind == parquet.Float || kind == parquet.Double:
		return nil, "floating-point numbers"
	default:
		return nil, kind.String()
	}
}
