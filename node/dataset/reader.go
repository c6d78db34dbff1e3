package dataset

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// Batch is a run of m consecutive records that were kept. It belongs to its Reader and is
// overwritten by the next call of Next: copy what must last.
type Batch struct {
	First  int64    // index of the first of them among all records kept, from 0
	IDs    [][]byte // m normalised record ids
	Values []int64  // m×n in row-major order, n = Schema.Entries()
	Lines  []int64  // m line numbers (CSV) or row numbers, for Source.ErrorAt
}

// Pick appends to dst, record by record, each record's entries at these indexes, and returns the
// extended slice.
func (b Batch) Pick(dst []int64, at []int) []int64 {
	if len(b.IDs) == 0 {
		return dst
	}
	n := len(b.Values) / len(b.IDs)
	for row := range b.IDs {
		for _, i := range at {
			dst = append(dst, b.Values[row*n+i])
		}
	}
	return dst
}

// Of returns the entries at these indexes of each record, as Pick does. It returns the batch's own
// values if at selects all in order, and otherwise a copy in buf.
func (b Batch) Of(buf *[]int64, at []int) []int64 {
	whole := len(b.IDs) == 0 || len(at) == len(b.Values)/len(b.IDs)
	for i, j := range at {
		whole = whole && i == j
	}
	if whole {
		return b.Values
	}
	*buf = b.Pick((*buf)[:0], at)
	return *buf
}

// Summary counts what a Reader has read so far.
type Summary struct {
	Records  int64          // kept, that is, delivered in batches
	Skipped  int64          // left out under study.MissingSkip
	Limit    int64          // Schema.MaxRecords
	Fields   []FieldSummary // in the schema's order
	Bytes    int64          // bytes read out of Size; both are 0 for a query
	Size     int64          // total size of the files when opened, in bytes
	Complete bool           // everything was read and satisfies the schema
	Origins  []Origin       // the files or the query; nil until Complete
	// Digest is the SHA-256 of the file's bytes; for several files, of their concatenated digests.
	// It is zero unless all are CSV, and until Complete.
	Digest protocol.Digest
}

// Reader delivers one source's records. It is not safe for concurrent use.
type Reader struct {
	name     string // of the source
	plan     *plan
	options  Options
	ctx      context.Context // Open's, for the pipeline
	sequence *sequence
	pipeline *pipeline // started by the first Next
	places   []place   // of the inputs, for positions

	task    *task // being delivered, or nil
	taken   int   // records delivered from it
	rows    int64 // records read, including those left out
	seen    *ids
	summary Summary
	err     error // returned by every further call of Next
	slices  [][]byte
}

// place says where records are.
type place struct {
	name string
	text bool // records are on lines, not in rows
}

// Each reads a source to its end. It passes each batch of records to take, and the counts so far to
// observe. It returns the errors of Open and Reader.Next, and the first error of take.
func Each(ctx context.Context, source Source, schema Schema, options Options, take func(Batch) error, observe func(Summary)) (Summary, error) {
	r, err := Open(ctx, source, schema, options)
	if err != nil {
		return Summary{}, err
	}
	defer r.Close()
	for {
		batch, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.Summary(), nil
		}
		if err != nil {
			return Summary{}, err
		}
		if err := take(batch); err != nil {
			return Summary{}, err
		}
		observe(r.Summary())
	}
}

// Open opens a source and checks the header of its first file, or the columns of its query. The
// caller must close the Reader; reading also stops when ctx ends. Errors about the data are of type
// *Error; others are about source and schema.
func Open(ctx context.Context, source Source, schema Schema, options Options) (*Reader, error) {
	schema, err := schema.prepared()
	if err != nil {
		return nil, err
	}
	options = options.withDefaults()
	r := &Reader{
		name: source.String(), plan: newPlan(schema, source.Words, options), options: options, ctx: ctx,
		sequence: &sequence{}, seen: newIDs(options.SpillDir, options.HeldIDs),
		summary: Summary{Limit: schema.MaxRecords, Fields: make([]FieldSummary, len(schema.Fields))},
	}
	rand.Read(r.plan.idKey[:]) // never fails
	for i, f := range schema.Fields {
		r.summary.Fields[i].Name = f.Name
	}
	if err := r.open(source); err != nil {
		return nil, err
	}
	return r, nil
}

// open opens the first input; next opens the others when needed.
func (r *Reader) open(source Source) error {
	if source.Elsewhere != "" {
		return source.NotHere()
	}
	if source.SQL != nil {
		query, err := openSQL(r.ctx, source.SQL, r.plan)
		if err != nil {
			return err
		}
		r.sequence.current, r.places = query, []place{{source.SQL.String(), false}}
		return nil
	}
	if source.Command != nil {
		output, err := openOutput(r.ctx, source.Command, r.plan, source.CSV, r.options)
		if err != nil {
			return err
		}
		r.sequence.current, r.places = output, []place{{source.Command.String(), true}}
		return nil
	}
	if source.Stream != nil {
		stream, err := openStream(source.Stream, r.plan, source.CSV, r.options)
		if err != nil {
			return err
		}
		r.sequence.current, r.places = stream, []place{{source.Stream.Name, stream.lines()}}
		return nil
	}
	files, err := source.files()
	if err != nil {
		return err
	}
	for i, p := range files {
		r.places = append(r.places, place{p.name, p.lines()})
		r.summary.Size += p.info.Size()
		r.sequence.open = append(r.sequence.open, func() (input, error) {
			if p.parquet() {
				return openParquet(p, i, r.plan, r.options.Workers)
			}
			if p.workbook() {
				return openWorkbook(p, i, source, r.plan, r.options)
			}
			return openCSV(p, i, r.plan, source.CSV, r.options)
		})
	}
	r.sequence.current, err = r.sequence.open[0]()
	r.sequence.open = r.sequence.open[1:]
	return err
}

// Close stops the reading, waits for its goroutines, and removes spilled data. It panics if one of
// them panicked and Next did not.
func (r *Reader) Close() (err error) {
	defer func() { err = errors.Join(r.sequence.Close(), r.seen.Close()) }()
	if r.pipeline != nil {
		r.pipeline.close()
	}
	return nil
}

// Summary returns the counts so far.
func (r *Reader) Summary() Summary {
	s := r.summary
	s.Fields = slices.Clone(s.Fields)
	return s
}

// Next returns the next batch, which is never empty, and io.EOF after the last. Errors are final,
// including the end of ctx. Errors about the data are of type *Error.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	for r.err == nil {
		if r.task != nil && r.taken < len(r.task.block.ends) {
			return r.batch(), nil
		}
		r.err = errBroken // stays if advance panics
		r.err = r.advance(ctx)
	}
	return Batch{}, r.err
}

// advance takes the next block; after the last it calls finish.
func (r *Reader) advance(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return r.ended(err)
	}
	if r.pipeline == nil {
		r.pipeline = startPipeline(r.ctx, r.plan, r.options.Workers, r.sequence)
	}
	if r.task != nil {
		r.pipeline.free <- r.task
		r.task = nil
	}
	t, err := r.pipeline.take(ctx)
	if err != nil {
		return r.ended(err)
	}
	if t == nil {
		if err := context.Cause(r.ctx); err != nil { // the producer ended early
			return r.ended(err)
		}
		return r.finish()
	}
	r.task, r.taken = t, 0
	return r.account(t)
}

func (r *Reader) ended(err error) error { return fmt.Errorf("reading %s: %w", r.name, err) }

// account adds a block to the counts and enforces limits on the whole source.
func (r *Reader) account(t *task) error {
	b, limit := t.block, r.plan.schema.MaxRecords
	r.summary.Bytes = t.read
	if excess := r.rows + int64(len(b.seen)) - limit; excess > 0 {
		first := b.seen[int64(len(b.seen))-excess].at
		return r.fail(first, fmt.Sprintf("more than %d records, the limit", limit), hintLimit)
	}
	if b.err != nil {
		return b.err
	}
	r.rows += int64(len(b.seen))
	r.summary.Skipped += b.skipped
	for i, f := range b.fields {
		r.summary.Fields[i].Clamped += f.Clamped
		r.summary.Fields[i].Missing += f.Missing
		r.summary.Fields[i].NoLogarithm += f.NoLogarithm
	}
	return r.seen.add(b.seen)
}

// batch returns the next records of the current block.
func (r *Reader) batch() Batch {
	b, n := r.task.block, r.plan.width
	from := r.taken
	to := min(from+r.options.BatchRecords, len(b.ends))
	r.slices = r.slices[:0]
	start := 0
	if from > 0 {
		start = b.ends[from-1]
	}
	for _, end := range b.ends[from:to] {
		r.slices = append(r.slices, b.arena[start:end:end])
		start = end
	}
	out := Batch{First: r.summary.Records, IDs: r.slices, Values: b.values[from*n : to*n], Lines: b.lines[from:to]}
	r.taken = to
	r.summary.Records += int64(to - from)
	return out
}

// finish is called once at the end of the data. It returns io.EOF if all is well.
func (r *Reader) finish() error {
	if r.summary.Records == 0 && !r.options.AllowEmpty {
		message := "no records"
		switch {
		case r.summary.Skipped > 0:
			message = "no record is left: a value is missing in each"
		case r.places[0].text:
			message = "no records, only a header"
		}
		return &Error{File: r.name, Message: message}
	}
	repeats, err := r.seen.repeats()
	if err != nil {
		return err
	}
	if repeats.count > 0 {
		return r.repeated(repeats)
	}
	r.summary.Complete = true
	r.summary.Bytes = r.summary.Size
	r.summary.Origins = r.sequence.origins
	r.summary.Digest = digest(r.sequence.origins)
	return io.EOF
}

func digest(origins []Origin) protocol.Digest {
	if len(origins) == 1 {
		return origins[0].Digest
	}
	h := sha256.New()
	for _, o := range origins {
		if o.Digest == (protocol.Digest{}) {
			return protocol.Digest{}
		}
		h.Write(o.Digest[:])
	}
	return protocol.Digest(h.Sum(nil))
}

// repeated returns the error about repeated ids, with the first few.
func (r *Reader) repeated(found repeats) error {
	pairs := make([]string, len(found.first))
	for i, p := range found.first {
		if len(r.places) == 1 {
			pairs[i] = fmt.Sprintf("%d and %d", p.earlier.line(), p.later.line())
			continue
		}
		pairs[i] = fmt.Sprintf("%s:%d and %s:%d", r.places[p.earlier.file()].name, p.earlier.line(), r.places[p.later.file()].name, p.later.line())
	}
	list := strings.Join(pairs, ", ")
	switch {
	case len(r.places) > 1:
	case r.places[0].text:
		list = "lines " + list
	default:
		list = "rows " + list
	}
	if more := found.count - int64(len(pairs)); more > 0 {
		list += fmt.Sprintf(", and %d more", more)
	}
	return r.fail(found.first[0].later, "record id repeated: "+list, "a record may appear once: remove or merge the repeated rows")
}

// fail returns an error about a record.
func (r *Reader) fail(at position, message, hint string) error {
	from := r.places[at.file()]
	e := &Error{File: from.name, Message: message, Hint: hint}
	if from.text {
		e.Line = at.line()
	} else {
		e.Row = at.line()
	}
	return e
}
