package part

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol/release"
)

// The pieces of a part's bundle.
const (
	pieceLabel  = "label"  // the line again
	pieceRun    = "run"    // entries, the first of a run
	pieceMore   = "more"   // further entries of the run
	pieceIDs    = "ids"    // each prefixed by its length
	pieceRows   = "rows"   // of a sketch: see block
	pieceSum    = "sum"    // of a sketch: its encoded entries, at the width given in counts
	pieceCounts = "counts" // last
)

// mostPiece is the approximate maximum size of a piece, in bytes.
const mostPiece = 4 << 20

// Counts describes what was read into a part.
type Counts struct {
	Records int64    `json:"records"` // in the sums
	Skipped int64    `json:"skipped"` // left out for a missing value
	Columns []Column `json:"columns"`
	Clipped []int64  `json:"clipped"` // records clipped, by sketch
	Widths  []int    `json:"widths"`  // bytes per entry of each sum; 0 for a sketch of rows
	Runs    int64    `json:"runs"`
	Sample  []byte   `json:"sample"` // of record ids: see package people
}

// Column counts the values of one column.
type Column struct {
	Name    string `json:"name"`
	Clamped int64  `json:"clamped"` // outside the public bounds, clipped to them
	Missing int64  `json:"missing"`
}

// Columns extracts the column counts of a summary.
func Columns(s dataset.Summary) []Column {
	out := []Column{}
	for _, f := range s.Fields {
		out = append(out, Column{f.Name, f.Clamped, f.Missing})
	}
	return out
}

// MakeOptions says what a part is made of. Fields without a default are required.
type MakeOptions struct {
	Job    *Job
	Shard  Shard
	Source dataset.Source // where the shard is
	Schema dataset.Schema
	Pass
	Picks    [][]int // per sketch, which entries of a record are its values
	SpillDir string  // nobody else may be able to read it
	Workers  int     // goroutines that project. Default: 1
	// Observe receives what was read so far. Default: no-op.
	Observe func(dataset.Summary)

	held int // entries of a run. Default: runs.RunEntries
}

// maker makes a part.
type maker struct {
	MakeOptions
	to       *bundle.Writer
	rows     Rows
	builders []Adder
	run      []runs.Entry
	count    int64 // number of runs
	ids      []byte
	samplers []*people.Sampler // one per worker
}

// Make reads a shard and writes its part. After an error, what it wrote is not a part.
func Make(ctx context.Context, w io.Writer, m MakeOptions) (Counts, error) {
	if err := m.Shard.Check(); err != nil {
		return Counts{}, err
	}
	if m.held == 0 {
		m.held = runs.RunEntries
	}
	if m.Observe == nil {
		m.Observe = func(dataset.Summary) {}
	}
	label := m.Job.label(m.Shard).line()
	out := bufio.NewWriterSize(w, 256<<10)
	if _, err := out.Write(label); err != nil {
		return Counts{}, fmt.Errorf("writing the part: %w", err)
	}
	to, err := bundle.Create(out, bundle.Label{Study: m.Job.Study.ID, From: m.Job.Party, To: m.Job.Party}, m.Job.To)
	if err != nil {
		return Counts{}, err
	}
	m.Workers = max(m.Workers, 1)
	p := &maker{MakeOptions: m, to: to, rows: Rows{Key: m.Job.Digests, Picks: m.Picks, Workers: m.Workers}}
	for range m.Workers {
		p.samplers = append(p.samplers, people.NewSampler(m.Job.People, dataset.Source{Elsewhere: m.Job.Entry.Where}))
	}
	if err := to.Add(pieceLabel, label); err != nil {
		return Counts{}, err
	}
	counts, err := p.make(ctx)
	if err == nil {
		err = to.Close()
	}
	if err == nil {
		err = out.Flush()
	}
	return counts, err
}

// make reads the shard and writes everything after the label.
func (p *maker) make(ctx context.Context) (Counts, error) {
	for i := range p.Plans {
		b, err := p.adder(i, p.Job.Keys, p.Workers)
		if err != nil {
			return Counts{}, err
		}
		p.builders = append(p.builders, b)
	}
	summary, err := dataset.Each(ctx, p.Source, p.Schema, dataset.Options{SpillDir: p.SpillDir, AllowEmpty: true}, p.take, p.Observe)
	if err != nil {
		return Counts{}, err
	}
	return p.end(summary)
}

func (p *maker) take(b dataset.Batch) error {
	if err := p.rows.Take(b, 0, p.builders, p.index); err != nil {
		return err
	}
	withRows := p.hasRows()
	for i := range p.Plans {
		if !p.Pass.rows(i) {
			continue
		}
		if err := p.flushRows(i); err != nil {
			return err
		}
	}
	share(len(b.IDs), p.Workers, func(worker, from, to int) {
		for _, id := range b.IDs[from:to] {
			p.samplers[worker].Add(id)
		}
	})
	if withRows {
		for _, id := range b.IDs {
			p.ids = AppendID(p.ids, id)
		}
	}
	return p.flushIDs(mostPiece)
}

// index adds an entry to the run, and writes the run once it is full.
func (p *maker) index(e runs.Entry) error {
	if p.run = append(p.run, e); len(p.run) < p.held {
		return nil
	}
	return p.endRun()
}

func (p *maker) endRun() error {
	if len(p.run) == 0 {
		return nil
	}
	runs.Sort(p.run, p.Workers)
	name, piece := pieceRun, []byte(nil)
	for i, e := range p.run {
		if piece = e.Append(piece); len(piece) < mostPiece/4 && i+1 < len(p.run) {
			continue
		}
		if err := p.to.Add(name, piece); err != nil {
			return err
		}
		name, piece = pieceMore, piece[:0]
	}
	p.run, p.count = p.run[:0], p.count+1
	return nil
}

// flushRows writes the rows that a builder has collected.
func (p *maker) flushRows(i int) error {
	rows := p.builders[i].Exact().Sketch
	each := max(1, mostPiece/sketch.MaxWidth/max(1, rows.Cols))
	for from := 0; from < rows.Rows; from += each {
		to := min(from+each, rows.Rows)
		piece, err := block(sketch.Sketch{Side: rows.Side, Rows: to - from, Cols: rows.Cols, Data: rows.Data[from*rows.Cols : to*rows.Cols]})
		if err == nil {
			err = p.to.Add(named(pieceRows, i), piece)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flushIDs writes the collected ids once they have at least so many bytes.
func (p *maker) flushIDs(least int) error {
	if len(p.ids) == 0 || len(p.ids) < least {
		return nil
	}
	err := p.to.Add(pieceIDs, p.ids)
	p.ids = p.ids[:0]
	return err
}

// end writes everything that is known only after reading.
func (p *maker) end(s dataset.Summary) (Counts, error) {
	if err := p.endRun(); err != nil {
		return Counts{}, err
	}
	if err := p.flushIDs(1); err != nil {
		return Counts{}, err
	}
	counts := Counts{Records: s.Records, Skipped: s.Skipped, Columns: Columns(s), Runs: p.count}
	var err error
	var sample people.Sample
	for _, one := range p.samplers { // the merged sample does not depend on which worker had which id
		sample = sample.With(one.Sample())
	}
	if counts.Sample, err = sample.Encode(); err != nil {
		return Counts{}, err
	}
	for i, b := range p.builders {
		var width int
		var clipped int64
		if _, _, _, sums := p.Sum(i); !sums && b != nil {
			clipped = b.Clipped()
		} else if sums {
			one := b.Exact()
			clipped, width = one.Clipped, one.Sketch.Width()
			if err := p.sum(i, one.Sketch, width); err != nil {
				return Counts{}, err
			}
		}
		counts.Clipped, counts.Widths = append(counts.Clipped, clipped), append(counts.Widths, width)
	}
	text, err := json.Marshal(counts)
	if err != nil {
		return Counts{}, err
	}
	return counts, p.to.Add(pieceCounts, text)
}

// sum writes a sum in pieces.
func (p *maker) sum(i int, s sketch.Sketch, width int) error {
	data, err := s.Encode(width)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		n := min(mostPiece, len(data))
		if err := p.to.Add(named(pieceSum, i), data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// named returns the name of a piece that belongs to a sketch.
func named(piece string, sketch int) string { return fmt.Sprintf("%s %d", piece, sketch) }

// block encodes rows: their number, the bytes per entry, and the entries.
func block(rows sketch.Sketch) ([]byte, error) {
	width := rows.Width()
	data, err := rows.Encode(width)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(rows.Rows))
	return append(append(b, byte(width)), data...), nil
}

// IsSum reports whether a sketch is a sum over records rather than a row for each.
func IsSum(p release.Plan) bool { return p.Sketch().Side != sketch.Records }

// Rows passes records to sketches and to an index. It is not safe for concurrent use.
type Rows struct {
	Key     *runs.Key
	Picks   [][]int // per sketch, which entries of a record are its values
	Workers int     // goroutines that compute digests. Default: 1

	keys    []*runs.Key  // one per worker
	entries []runs.Entry // scratch
	values  []int64      // scratch
}

// shared is how many records a goroutine takes at a time.
const shared = 1 << 10

// share calls do in parallel for pieces of n records.
func share(n, workers int, do func(worker, from, to int)) {
	parallel.Share((n+shared-1)/shared, workers, func(worker, piece int) {
		do(worker, piece*shared, min(n, (piece+1)*shared))
	})
}

// Take passes a batch of a shard to adders, one per sketch or nil, and its entries to index.
func (r *Rows) Take(b dataset.Batch, shard uint32, to []Adder, index func(runs.Entry) error) error {
	if len(b.IDs) == 0 {
		return nil
	}
	n := len(b.Values) / len(b.IDs)
	for len(r.keys) < max(r.Workers, 1) {
		r.keys = append(r.keys, r.Key.Clone())
	}
	r.entries = slices.Grow(r.entries[:0], len(b.IDs))[:len(b.IDs)]
	share(len(b.IDs), len(r.keys), func(worker, from, to int) {
		key := r.keys[worker]
		for i := from; i < to; i++ {
			r.entries[i] = runs.Entry{ID: key.ID(b.IDs[i]), Value: key.Value(b.Values[i*n : (i+1)*n]), Shard: shard, Line: b.Lines[i]}
		}
	})
	for i := range r.entries {
		if err := index(r.entries[i]); err != nil {
			return err
		}
	}
	for i, one := range to {
		if one == nil {
			continue
		}
		if err := one.AddRead(b.IDs, b.Of(&r.values, r.Picks[i])); err != nil {
			return fmt.Errorf("sketch %d: %w", i+1, err)
		}
	}
	return nil
}

// AppendID appends an id, prefixed by its length.
func AppendID(b, id []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(id))), id...)
}

// CutID splits off an id that AppendID appended.
func CutID(b []byte) (id, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n : 4+n], b[4+n:], true
}
