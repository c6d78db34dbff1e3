package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/cases"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Options tunes a Reader. The zero value is ready to use.
type Options struct {
	// BatchRecords is the largest number of records in a batch. Default: 4096.
	BatchRecords int
	// MaxRecordBytes bounds one record, and so the damage of a quote that is never
	// closed. Default: 16 MiB.
	MaxRecordBytes int64
}

func (o Options) withDefaults() Options {
	if o.BatchRecords <= 0 {
		o.BatchRecords = 4096
	}
	if o.MaxRecordBytes <= 0 {
		o.MaxRecordBytes = 16 << 20
	}
	return o
}

// Batch is a run of m consecutive records that were kept. It belongs to its Reader
// and is overwritten by the next call of Next: copy what must last.
type Batch struct {
	First  int64    // position of the first of them among all records kept, from 0
	IDs    [][]byte // m normalised record ids
	Values []int64  // m×n in row-major order, n = Schema.Entries()
}

// Summary counts what a Reader has read so far.
type Summary struct {
	Records  int64          // kept, that is delivered in batches
	Skipped  int64          // left out under study.MissingSkip
	Fields   []FieldSummary // in the schema's order
	Bytes    int64          // read of Size
	Size     int64          // of the file when it was opened, in bytes
	Complete bool           // the whole file was read and holds what the schema asks for
	// Digest is the SHA-256 of the file's bytes; zero until Complete. Equal digests
	// mean that the data have not changed since.
	Digest protocol.Digest
}

// FieldSummary counts the values of one field, in records that were left out too.
type FieldSummary struct {
	Name    string // the study's name of the column
	Clamped int64  // values outside the public bounds, clipped to them
	Missing int64  // empty values
}

// Reader delivers one file's records. It is for one goroutine.
type Reader struct {
	schema  Schema
	options Options
	source  *source
	csv     *csv.Reader
	ids     []int    // positions of the id columns in the file
	columns []column // one per field
	width   int      // entries of a row
	fold    cases.Caser

	rows    int64            // records read, those left out included
	line    int              // where the row that was read last begins
	seen    map[idHash]int64 // line of each id
	summary Summary
	err     error // what every further call of Next returns

	// Buffers that batches share.
	values []int64
	arena  []byte // ids of a batch, one after the other
	ends   []int  // where each ends in the arena
	slices [][]byte
}

// idHash is a SHA-256 cut to 16 bytes. Two of m different ids share one with
// probability below m²/2¹²⁹ (10⁹ ids: 1.5e-21), and then the file is refused.
type idHash [16]byte

// Open opens a file and checks its header. The caller closes the Reader. Errors
// about the file are of type *Error; others are about the schema.
func Open(path string, schema Schema, options Options) (*Reader, error) {
	schema, err := schema.prepared()
	if err != nil {
		return nil, err
	}
	options = options.withDefaults()
	src, err := openSource(path, options.MaxRecordBytes)
	if err != nil {
		return nil, err
	}
	r := &Reader{
		schema:  schema,
		options: options,
		source:  src,
		csv:     csv.NewReader(src.buffered),
		width:   schema.Entries(),
		fold:    cases.Fold(),
		seen:    make(map[idHash]int64),
		summary: Summary{Fields: make([]FieldSummary, len(schema.Fields)), Size: src.size},
	}
	r.csv.ReuseRecord = true
	for i, f := range schema.Fields {
		r.summary.Fields[i].Name = f.Name
	}
	if err := r.readHeader(); err != nil {
		src.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.source.Close() }

// Summary returns the counts so far.
func (r *Reader) Summary() Summary {
	s := r.summary
	s.Fields = slices.Clone(s.Fields)
	s.Bytes = r.source.read
	return s
}

// Next returns the next batch, never an empty one, and io.EOF after the last. An
// error is final, the end of ctx included; errors about the file are of type *Error.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	if r.err != nil {
		return Batch{}, r.err
	}
	r.values, r.arena, r.ends = r.values[:0], r.arena[:0], r.ends[:0]
	first := r.summary.Records
	for len(r.ends) < r.options.BatchRecords && r.err == nil {
		r.err = r.readInto(ctx)
	}
	if r.err != nil && r.err != io.EOF || len(r.ends) == 0 {
		return Batch{}, r.err
	}
	r.slices = r.slices[:0]
	start := 0
	for _, end := range r.ends {
		r.slices = append(r.slices, r.arena[start:end:end])
		start = end
	}
	return Batch{First: first, IDs: r.slices, Values: r.values}, nil
}

// readInto appends one record to the buffers, or counts it as left out.
func (r *Reader) readInto(ctx context.Context) error {
	record, err := r.readRecord(ctx)
	if err == io.EOF {
		return r.finish()
	}
	if err != nil {
		return err
	}
	if r.rows > r.schema.MaxRecords {
		return r.fail(r.line, "", fmt.Sprintf("more than %d records, the limit", r.schema.MaxRecords), "")
	}
	idStart, valueStart := len(r.arena), len(r.values)
	if r.arena, err = r.appendID(r.arena, record); err != nil {
		return err
	}
	if earlier, repeated := r.remember(r.arena[idStart:]); repeated {
		return r.duplicates(ctx, earlier)
	}
	complete, err := r.appendValues(record)
	if err != nil {
		return err
	}
	if !complete && r.schema.Missing == study.MissingSkip {
		r.arena, r.values = r.arena[:idStart], r.values[:valueStart]
		r.summary.Skipped++
		return nil
	}
	r.ends = append(r.ends, len(r.arena))
	r.summary.Records++
	return nil
}

// readRecord returns the next row's cells, valid until the next call.
func (r *Reader) readRecord(ctx context.Context) ([]string, error) {
	// Looking at the context costs a lock: once per thousand records will do.
	if r.rows%1024 == 0 && ctx.Err() != nil {
		return nil, fmt.Errorf("reading %s: %w", r.source.path, context.Cause(ctx))
	}
	r.source.newRecord()
	record, err := r.csv.Read()
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, r.syntax(err, len(record))
	}
	r.rows++
	r.line, _ = r.csv.FieldPos(0)
	return record, nil
}

// finish is called once at the end of the file. It returns io.EOF if all is well.
func (r *Reader) finish() error {
	if r.summary.Records == 0 {
		if r.summary.Skipped > 0 {
			return r.fail(0, "", "no record is left: a value is missing in each", "")
		}
		return r.fail(0, "", "no records, only a header", "")
	}
	if err := r.source.unchanged(); err != nil {
		return err
	}
	r.summary.Complete = true
	r.summary.Digest = r.source.digest()
	return io.EOF
}

// appendID appends the record's normalised id to dst.
func (r *Reader) appendID(dst []byte, record []string) ([]byte, error) {
	for i, position := range r.ids {
		part, ok := normalize(record[position], r.schema.Normalize, r.fold)
		if !ok {
			return dst, r.failCell(position, r.schema.ID[i], "not valid UTF-8", hintUTF8)
		}
		if part == "" {
			return dst, r.failCell(position, r.schema.ID[i], "record id is empty",
				"every row needs an id that is not empty after normalisation")
		}
		if len(r.ids) == 1 {
			return append(dst, part...), nil
		}
		dst = transcript.AppendField(dst, []byte(part))
	}
	return dst, nil
}

// remember notes the line of an id that was read last. It returns its earlier line
// if there is one.
func (r *Reader) remember(id []byte) (earlier int64, repeated bool) {
	sum := sha256.Sum256(id)
	hash := idHash(sum[:len(idHash{})])
	if earlier, repeated = r.seen[hash]; !repeated {
		r.seen[hash] = int64(r.line)
	}
	return earlier, repeated
}

// duplicates reads on after a first repeated id, so that one look at the error
// shows a few of them.
func (r *Reader) duplicates(ctx context.Context, earlier int64) error {
	const most = 5
	line := r.line
	pairs := []string{fmt.Sprintf("%d and %d", earlier, line)}
	for len(pairs) < most {
		record, err := r.readRecord(ctx)
		if err != nil {
			break // the end, or an error that waits until these are repaired
		}
		id, err := r.appendID(nil, record)
		if err != nil {
			break
		}
		if earlier, repeated := r.remember(id); repeated {
			pairs = append(pairs, fmt.Sprintf("%d and %d", earlier, r.line))
		}
	}
	list := strings.Join(pairs, ", ")
	if len(pairs) == most {
		list += ", perhaps more"
	}
	return r.fail(line, "", "record id repeated: lines "+list, "a record may appear once: remove or merge the repeated rows")
}

func (r *Reader) fail(line int, column, message, hint string) error {
	return &Error{File: r.source.path, Line: int64(line), Column: column, Message: message, Hint: hint}
}

// failCell reports a cell of the record that was read last.
func (r *Reader) failCell(position int, column, message, hint string) error {
	line, _ := r.csv.FieldPos(position)
	return r.fail(line, column, message, hint)
}

// syntax turns an error of the CSV syntax into one that says what to do.
func (r *Reader) syntax(err error, fields int) error {
	var e *csv.ParseError
	switch {
	case errors.Is(err, errTooLong):
		// Where the record begins is not known: blank lines may come before it.
		which := "the row after this one"
		if r.line == 0 {
			which = "the first row"
		}
		return r.fail(r.line, "", fmt.Sprintf("%s has more than %d bytes", which, r.options.MaxRecordBytes),
			"is a quoted value never closed?")
	case !errors.As(err, &e):
		return r.source.failure("cannot be read", err)
	case errors.Is(e.Err, csv.ErrFieldCount):
		return r.fail(e.StartLine, "", fmt.Sprintf("%d fields where the header has %d", fields, r.csv.FieldsPerRecord),
			"quote a value that holds a comma or a line break")
	case errors.Is(e.Err, csv.ErrBareQuote):
		return r.fail(e.Line, "", "a quote within an unquoted value", "quote the whole value and double the quotes in it")
	case errors.Is(e.Err, csv.ErrQuote) && e.Line != e.StartLine:
		return r.fail(e.StartLine, "", fmt.Sprintf("a quoted value is not closed, noticed on line %d", e.Line),
			"close it, and double the quotes in it")
	default:
		return r.fail(e.StartLine, "", "a quoted value is not closed, or a quote in it not doubled", "")
	}
}
