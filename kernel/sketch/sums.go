package sketch

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/cosketch/cosketch/kernel/dp"
)

// SumsOptions describes the records that Moments, Cells and Codes builders sum over. Records have d
// entries. They are centred at a public centre and clipped before anything is computed.
type SumsOptions struct {
	Centre  []int64 // Required. d entries, subtracted from every record; the difference is clipped and summed
	Largest int64   // Required. bound on the absolute value of an entry of that difference, usually fixedpoint.Bits.One; at most 2^20
	Clip    int64   // l2 bound on a centred record (dp.ClipL2), at most 2^30. 0: records are not clipped
	Limit   int64   // maximum number of records. Default: as many as int64 sums are sure to hold exactly
	Workers int     // goroutines of one Add, each with its own sums. Default 1
}

// maxExactSum bounds exact int64 sums: 2^62, as elsewhere in the project.
const maxExactSum = 1 << 62

// check fills in the defaults. It returns an error if an option is out of range, or if the limit of
// records allows an entry to pass 2^62 when each record adds at most perRecord.
func (o *SumsOptions) check(perRecord int64) error {
	if len(o.Centre) == 0 {
		return fmt.Errorf("records without columns")
	}
	if o.Largest < 1 || o.Largest > 1<<20 {
		return fmt.Errorf("largest entry %d: must be between 1 and 2^20", o.Largest)
	}
	if o.Clip < 0 || o.Clip > 1<<30 {
		return fmt.Errorf("clip of %d: must be between 0 and 2^30", o.Clip)
	}
	exact := maxExactSum / perRecord
	switch {
	case o.Limit == 0:
		o.Limit = exact
	case o.Limit < 0 || o.Limit > exact:
		return fmt.Errorf("limit of %d records: must be between 1 and %d", o.Limit, exact)
	}
	o.Workers = max(o.Workers, 1)
	return nil
}

// reach bounds the absolute value of an entry of a prepared record.
func (o SumsOptions) reach() int64 {
	if o.Clip > 0 {
		return min(o.Largest, o.Clip)
	}
	return o.Largest
}

// summing is the common part of the builders of sums. It checks a batch as a whole; then workers
// prepare and add some records at a time.
type summing struct {
	options SumsOptions
	absent  bool // Absent is accepted as an entry
	records int64
	workers []sumWorker
}

type sumWorker struct {
	sums     []int64 // of all records of the worker; nil until first used
	prepared []int64 // scratch: some records, centred and clipped
	clipped  int64
}

func newSumming(o SumsOptions) summing {
	return summing{options: o, workers: make([]sumWorker, o.Workers)}
}

func (b *summing) Records() int64 { return b.records }

// Clipped returns the number of records that were clipped.
func (b *summing) Clipped() (n int64) {
	for i := range b.workers {
		n += b.workers[i].clipped
	}
	return n
}

// add adds a batch, where x is m × d row-major. It calls sum to add prepared records to a worker's
// sums, which have the given size. If it returns an error, it added nothing.
func (b *summing) add(x []int64, size int, sum func(worker int, sums, prepared []int64)) error {
	return b.take(x, size, func(worker int, records []int64) {
		w := &b.workers[worker]
		sum(worker, w.sums, b.prepare(w, records))
	})
}

// take is add with records as they are, neither centred nor clipped.
func (b *summing) take(x []int64, size int, sum func(worker int, records []int64)) error {
	d := len(b.options.Centre)
	if len(x)%d != 0 {
		return fmt.Errorf("adding records of %d columns: %d entries", d, len(x))
	}
	m := len(x) / d
	if int64(m) > b.options.Limit-b.records {
		return fmt.Errorf("adding %d records to %d: the limit is %d", m, b.records, b.options.Limit)
	}
	if i := b.outside(x); i >= 0 {
		return fmt.Errorf("adding records: entry (%d, %d) of the batch is further than %d from the centre", i/d+1, i%d+1, b.options.Largest)
	}
	shared(m, d, len(b.workers), func(worker, from, to int) {
		w := &b.workers[worker]
		if w.sums == nil {
			w.sums = make([]int64, size)
			clear(w.sums) // see accumulator.add
		}
		sum(worker, x[from*d:to*d])
	})
	b.records += int64(m)
	return nil
}

// outside returns the index of the first entry that is out of range, or -1.
func (b *summing) outside(x []int64) int {
	d := len(b.options.Centre)
	var at atomic.Int64
	at.Store(math.MaxInt64)
	shared(len(x)/d, d, len(b.workers), func(_, from, to int) {
		for i := from * d; i < to*d; i += d {
			for j, c := range b.options.Centre {
				// No overflow: both operands are far from the limits of int64, or x alone is out of
				// range.
				if v := x[i+j]; (v > c+b.options.Largest || v < c-b.options.Largest) && !(v == Absent && b.absent) {
					for {
						first := at.Load()
						if int64(i+j) >= first || at.CompareAndSwap(first, int64(i+j)) {
							return
						}
					}
				}
			}
		}
	})
	if first := at.Load(); first < math.MaxInt64 {
		return int(first)
	}
	return -1
}

// prepare returns the records, centred and clipped.
func (b *summing) prepare(w *sumWorker, x []int64) []int64 {
	centre := b.options.Centre
	d := len(centre)
	if cap(w.prepared) < len(x) {
		w.prepared = make([]int64, len(x))
	}
	out := w.prepared[:len(x)]
	square := b.options.Clip * b.options.Clip // at most 2^60
	for i := 0; i < len(out); i += d {
		from, to := x[i:i+d], out[i:i+d]
		var norm uint64 // terms are at most 2^40, and there are far fewer than 2^23
		for j, c := range centre {
			v := from[j] - c
			to[j] = v
			norm += uint64(v * v)
		}
		if square > 0 && norm > uint64(square) && dp.ClipL2(to, b.options.Clip) {
			w.clipped++
		}
	}
	return out
}

// Lengths counts the records that a sketch would clip, and sums nothing. It is not safe for
// concurrent use.
type Lengths struct{ summing }

// NewLengths returns a counter without records.
func NewLengths(options SumsOptions) (*Lengths, error) {
	if err := options.check(1); err != nil {
		return nil, fmt.Errorf("lengths of records: %w", err)
	}
	return &Lengths{newSumming(options)}, nil
}

// Add counts a batch of records, where x is m × d row-major. Errors are those of
// [CellsBuilder.Add]; if it returns one, it counted nothing.
func (l *Lengths) Add(x []int64) error { return l.add(x, 0, func(int, []int64, []int64) {}) }

// total returns the sum over all workers, as a copy.
func (b *summing) total(size int) []int64 {
	out := make([]int64, size)
	for i := range b.workers {
		for j, v := range b.workers[i].sums {
			out[j] += v
		}
	}
	return out
}
