package sketch

import "fmt"

// MomentWeights are the integer weights at which the entries of a moments sketch are
// summed. One noise serves all entries, so the weights decide how exact each becomes;
// dp.RecordMoments has the sensitivity, which asks for Product² ≤ 2·Square².
type MomentWeights struct {
	Square  int64 // of x_i²
	Product int64 // of x_i·x_j, i < j
	Sum     int64 // of x_i
}

// maxWeight keeps what one record adds to an entry below 2^62.
const maxWeight = 1 << 20

// MaxMomentColumns bounds d: a sketch of so many columns has 2^21 entries.
const MaxMomentColumns = 2046

// MomentEntries is how many entries a moments sketch of d columns has, d(d+3)/2.
func MomentEntries(d int) int { return d * (d + 3) / 2 }

// MomentsBuilder sums a moments sketch over records: of every centred and clipped record
// x the products x_i·x_j, i ≤ j, row by row of the upper triangle, then its entries,
// each times its weight. The result is the same to the bit for every order, batch size
// and number of workers. One goroutine uses a builder at a time.
type MomentsBuilder struct {
	summing
	weights MomentWeights
	scratch [][]int32 // by worker: a few records, column by column
}

// NewMoments returns a builder without records.
func NewMoments(weights MomentWeights, options SumsOptions) (*MomentsBuilder, error) {
	if err := weights.check(); err != nil {
		return nil, fmt.Errorf("moments sketch: %w", err)
	}
	if len(options.Centre) > MaxMomentColumns {
		return nil, fmt.Errorf("moments sketch: %d columns: at most %d are possible", len(options.Centre), MaxMomentColumns)
	}
	if err := options.check(weights.perRecord(options.reach())); err != nil {
		return nil, fmt.Errorf("moments sketch: %w", err)
	}
	return &MomentsBuilder{summing: newSumming(options), weights: weights, scratch: make([][]int32, options.Workers)}, nil
}

func (w MomentWeights) check() error {
	for _, v := range []int64{w.Square, w.Product, w.Sum} {
		if v < 1 || v > maxWeight {
			return fmt.Errorf("weight %d: must be between 1 and 2^20", v)
		}
	}
	return nil
}

// perRecord bounds what one record adds to an entry. Both entries of a product may be as
// large as reach, unless records are clipped.
func (w MomentWeights) perRecord(reach int64) int64 {
	return max(max(w.Square, w.Product)*reach*reach, w.Sum*reach)
}

// MomentsLimit returns how many records a moments sketch with entries of absolute value
// at most reach holds before an entry can reach bound.
func MomentsLimit(weights MomentWeights, reach, bound int64) int64 {
	return bound / weights.perRecord(reach)
}

// Add adds a batch of records, x being m × d row-major. It adds all or, with an error,
// none: when x is not whole records, an entry is too far from the centre, or the limit of
// records would be passed.
func (b *MomentsBuilder) Add(x []int64) error {
	d := len(b.options.Centre)
	return b.add(x, MomentEntries(d), func(worker int, sums, prepared []int64) {
		if b.scratch[worker] == nil {
			b.scratch[worker] = make([]int32, momentBlock*d)
		}
		for len(prepared) > 0 {
			n := min(momentBlock, len(prepared)/d)
			addMoments(sums, b.scratch[worker], prepared[:n*d], d)
			prepared = prepared[n*d:]
		}
	})
}

// momentBlock is how many records are multiplied at a time: with 30 columns they take
// 30 kB, column by column.
const momentBlock = 256

// addMoments adds the products and sums of a few records to sums, without weights.
// Entries are at most 2^20, so a product is at most 2^40 and all are exact in int64.
func addMoments(sums []int64, columns []int32, x []int64, d int) {
	n := len(x) / d
	for j := range d {
		column := columns[j*n : (j+1)*n]
		var sum int64
		for i := range column {
			v := x[i*d+j]
			column[i] = int32(v)
			sum += v
		}
		sums[d*(d+1)/2+j] += sum
	}
	// Two rows of the triangle at a time: four products for four numbers read.
	row := func(i int) []int64 { return sums[i*d-i*(i-1)/2-i:][:d] } // row(i)[j] is entry (i, j), j ≥ i
	at := func(i int) []int32 { return columns[i*n:][:n] }
	for i := 0; i < d; i += 2 {
		if i+1 == d {
			row(i)[i] += dot(at(i), at(i))
			break
		}
		a, b, first, second := at(i), at(i+1), row(i), row(i+1)
		aa, ab, bb, _ := dots(a, b, a, b)
		first[i] += aa
		first[i+1] += ab
		second[i+1] += bb
		j := i + 2
		for ; j+1 < d; j += 2 {
			ac, ad, bd, bc := dots(a, b, at(j), at(j+1))
			first[j] += ac
			first[j+1] += ad
			second[j] += bc
			second[j+1] += bd
		}
		if j < d {
			first[j] += dot(a, at(j))
			second[j] += dot(b, at(j))
		}
	}
}

// dots returns ⟨a, c⟩, ⟨a, d⟩, ⟨b, d⟩ and ⟨b, c⟩.
func dots(a, b, c, d []int32) (ac, ad, bd, bc int64) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for i := range a {
		p, q, r, s := int64(a[i]), int64(b[i]), int64(c[i]), int64(d[i])
		ac += p * r
		ad += p * s
		bd += q * s
		bc += q * r
	}
	return ac, ad, bd, bc
}

func dot(a, b []int32) (sum int64) {
	b = b[:len(a)]
	for i := range a {
		sum += int64(a[i]) * int64(b[i])
	}
	return sum
}

// Sketch returns the weighted sums so far, 1 × d(d+3)/2, in memory of its own.
func (b *MomentsBuilder) Sketch() Sketch {
	d := len(b.options.Centre)
	s := Sketch{Side: Moments, Rows: 1, Cols: MomentEntries(d), Data: b.total(MomentEntries(d))}
	at := 0
	for i := range d {
		for j := i; j < d; j++ {
			if i == j {
				s.Data[at] *= b.weights.Square
			} else {
				s.Data[at] *= b.weights.Product
			}
			at++
		}
	}
	for i := at; i < len(s.Data); i++ {
		s.Data[i] *= b.weights.Sum
	}
	return s
}
