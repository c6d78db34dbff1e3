package sketch

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
)

// MomentsOptions describes a moments sketch to be built.
type MomentsOptions struct {
	SumsOptions // Clip is not used. Largest is in steps of 2^-Fine
	Layout      MomentLayout
	// Clips are the lengths to which records are clipped, in increasing order: one row of the
	// sketch for each. If empty, records are not clipped.
	Clips       []int64
	Weights     []dp.MomentWeights // one for each clip; a single one without clips
	One         int64              // the number of steps that represents 1; entries are limited to it before fourth powers
	AttributeOf []int              // by entry of a record: the index of its attribute, among those whose absent values are counted
	Move        []Standard         // by entry: how it is moved and scaled before anything else; nil: it is not
	Fine        uint               // records and sums are in steps of 2^-Fine, products in whole steps. Must equal Fine of all Weights
	Measure     bool               // only count the records' lengths, sum nothing
}

// Standard moves and scales an entry: v becomes (16·v − Centre)·one/Spread, rounded half away from
// zero and limited to ±2^20.
type Standard struct {
	Centre int64 // in sixteenths of a step
	Spread int64 // in sixteenths of a step, above 0: the difference that becomes one
}

// Absent represents an absent value among a record's entries.
const Absent = math.MinInt64

// saturated is the largest absolute value of an entry after it was moved and scaled.
const saturated = 1 << 20

// Apply returns v moved and scaled. v and the result have fine more bits than whole steps. one, at
// most 2^14, is what Spread becomes; |v| must be at most 2^21.
func (s Standard) Apply(v, one int64, fine uint) int64 {
	n := (16*v - s.Centre<<fine) * one // below 2^63: |v| ≤ 2^21, one ≤ 2^14
	half := s.Spread / 2
	if n < 0 {
		half = -half
	}
	return max(min((n+half)/s.Spread, saturated), -saturated)
}

// MomentsBuilder sums a moments sketch over records. The result is bit-identical for every order,
// batch size and number of workers. A builder is not safe for concurrent use.
type MomentsBuilder struct {
	options MomentsOptions
	records int64
	shorter [][]int64 // by clip and attribute: dp.Absence.ClipReduction
	workers []momentWorker
}

// momentWorker holds the sums of one worker, without weights.
type momentWorker struct {
	// By clip. whole: sums of the unchanged records for which it is the smallest clip that fits.
	// cut: sums of all longer records, clipped to it. The sketch of a clip is its cut plus the
	// whole of it and of all smaller clips.
	whole, cut [][]int64
	lengths    []int64  // number of records by the smallest clip that fits; the last entry is for records that fit none
	kept       []int64  // scratch: some records, moved
	norms      []uint64 // scratch: squared lengths, in fine steps
	rounded    []uint64 // scratch: squared lengths after rounding to whole steps
	missing    [][]int  // scratch: by record, the attributes that are absent
	chosen     []int64  // scratch: the selected records, contiguous, in fine steps
	coarse     []int64  // scratch: chosen in whole steps
	columns    []int32  // scratch: coarse by column
	at         []int    // scratch: by record, the smallest clip that fits
	classes    []int
	lacking    [][]int
}

// momentBlock is the number of records summed at a time, small enough that their entries stay in
// the cache.
const momentBlock = 256

// NewMoments returns a builder without records.
func NewMoments(o MomentsOptions) (*MomentsBuilder, error) {
	d := o.Layout.Columns
	switch {
	case d < 1 || d > MaxMomentColumns || o.Layout.Entries() > MaxMomentEntries:
		return nil, fmt.Errorf("moments sketch: %d columns make %d entries: at most %d columns and %d entries are possible", d, o.Layout.Entries(), MaxMomentColumns, MaxMomentEntries)
	case len(o.Centre) != d || o.Move != nil && len(o.Move) != d || o.Layout.Attributes > 0 && len(o.AttributeOf) != d:
		return nil, fmt.Errorf("moments sketch: centres, scales and attributes must be given for each of %d columns", d)
	case len(o.Weights) != max(len(o.Clips), 1):
		return nil, fmt.Errorf("moments sketch: %d sets of weights for %d clips", len(o.Weights), len(o.Clips))
	case o.Fine > 4 || slices.ContainsFunc(o.Weights, func(w dp.MomentWeights) bool { return w.Fine != o.Fine }):
		return nil, fmt.Errorf("moments sketch: Fine is %d bits: must be at most 4, and the same in all weights", o.Fine)
	case o.One < 1 || o.One > 1<<14:
		return nil, fmt.Errorf("moments sketch: a unit of %d steps: must be between 1 and 2^14", o.One)
	}
	reach := o.Largest
	if o.Move != nil {
		reach = saturated
		for _, m := range o.Move {
			if m.Spread < 1 {
				return nil, fmt.Errorf("moments sketch: a spread of %d: must be positive", m.Spread)
			}
		}
	}
	var perRecord int64
	for i, w := range o.Weights {
		most := reach
		if len(o.Clips) > 0 {
			if o.Clips[i] < 1 || i > 0 && o.Clips[i] <= o.Clips[i-1] {
				return nil, fmt.Errorf("moments sketch: clips %d must be positive and increasing", o.Clips)
			}
			most = min(most, o.Clips[i])
		}
		one, err := PerRecord(w, min(most, saturated>>o.Fine), o.One)
		if err != nil {
			return nil, fmt.Errorf("moments sketch: %w", err)
		}
		perRecord = max(perRecord, one)
	}
	if err := o.check(perRecord); err != nil {
		return nil, fmt.Errorf("moments sketch: %w", err)
	}
	b := &MomentsBuilder{options: o, workers: make([]momentWorker, o.Workers)}
	for _, w := range o.Weights {
		var cuts []int64
		for j := range w.AbsentOf.Columns() {
			cuts = append(cuts, w.AbsentOf.ClipReduction(j))
		}
		b.shorter = append(b.shorter, cuts)
	}
	return b, nil
}

// PerRecord returns a bound on what one record with entries of at most reach adds to any entry of a
// moments sketch with these weights.
func PerRecord(w dp.MomentWeights, reach, one int64) (int64, error) {
	if reach < 1 || reach > 1<<20 {
		return 0, fmt.Errorf("entries of up to %d: must be between 1 and 2^20", reach)
	}
	most := max(max(w.Square, w.Product)*reach*reach, max(w.Sum, w.ClassSum, w.CutSum)<<w.Fine*reach, w.ClassCount, w.Cut, w.Fourth*one)
	for j := range w.AbsentOf.Columns() {
		most = max(most, w.AbsentOf.Absent(j))
		if w.AbsentOf.Pairs() {
			most = max(most, w.AbsentOf.SumAbsent(j)<<w.Fine*reach, w.AbsentOf.BothAbsent(j, j))
		}
	}
	return most, nil
}

// MomentsLimit returns how many records with entries of absolute value at most reach can be added
// to a moments sketch before an entry can reach bound. It returns 0 if reach is out of range.
func MomentsLimit(w dp.MomentWeights, reach, one, bound int64) int64 {
	most, err := PerRecord(w, reach, one)
	if err != nil {
		return 0
	}
	return bound / most
}

func (b *MomentsBuilder) Records() int64 { return b.records }

// Lengths counts the records by the smallest clip that fits. The last count is of records longer
// than every clip.
func (b *MomentsBuilder) Lengths() []int64 {
	out := make([]int64, len(b.options.Clips)+1)
	for i := range b.workers {
		for j, n := range b.workers[i].lengths {
			out[j] += n
		}
	}
	return out
}

// Clipped returns the number of records that are longer than the last clip.
func (b *MomentsBuilder) Clipped() int64 {
	if len(b.options.Clips) == 0 {
		return 0
	}
	return b.Lengths()[len(b.options.Clips)]
}

// Add adds a batch of records, where x is m × d row-major, with Absent for absent values. If there
// is a label, classes holds the class of each record. It adds nothing and returns an error if x is
// not whole records, an entry is too far from the centre, a class is out of range, or the limit of
// records would be exceeded.
func (b *MomentsBuilder) Add(x []int64, classes []int) error {
	o := b.options
	d := o.Layout.Columns
	m := len(x) / d
	switch {
	case len(x)%d != 0:
		return fmt.Errorf("adding records of %d columns: %d entries", d, len(x))
	case o.Layout.Classes > 0 && len(classes) != m:
		return fmt.Errorf("adding %d records: the classes of %d", m, len(classes))
	case int64(m) > o.Limit-b.records:
		return fmt.Errorf("adding %d records to %d: the limit is %d", m, b.records, o.Limit)
	}
	for i, v := range x {
		if c := o.Centre[i%d] << o.Fine; (v > c+o.Largest || v < c-o.Largest) && !(v == Absent && o.Layout.Attributes > 0) {
			return fmt.Errorf("adding records: entry (%d, %d) of the batch is further than %d from the centre", i/d+1, i%d+1, o.Largest)
		}
	}
	for i, c := range classes {
		if c < 0 || c >= o.Layout.Classes {
			return fmt.Errorf("adding records: record %d of the batch is of class %d of %d", i+1, c, o.Layout.Classes)
		}
	}
	shared(m, d, len(b.workers), func(worker, from, to int) {
		for ; from < to; from += momentBlock {
			end := min(from+momentBlock, to)
			var own []int
			if o.Layout.Classes > 0 {
				own = classes[from:end]
			}
			b.addBlock(&b.workers[worker], x[from*d:end*d], own)
		}
	})
	b.records += int64(m)
	return nil
}

// addBlock adds up to momentBlock records.
func (b *MomentsBuilder) addBlock(w *momentWorker, x []int64, classes []int) {
	o := b.options
	d, clips := o.Layout.Columns, len(o.Clips)
	m := len(x) / d
	if w.whole == nil {
		w.whole, w.cut = make([][]int64, max(clips, 1)), make([][]int64, clips)
		w.lengths, w.missing = make([]int64, clips+1), make([][]int, momentBlock)
		w.at = make([]int, momentBlock)
		w.norms, w.rounded, w.columns = make([]uint64, momentBlock), make([]uint64, momentBlock), make([]int32, momentBlock*d)
	}
	if cap(w.kept) < m*d {
		w.kept = make([]int64, momentBlock*d)
	}
	kept := w.kept[:m*d]
	for i := range m {
		w.norms[i], w.rounded[i], w.missing[i] = b.move(kept[i*d:][:d], x[i*d:][:d], w.missing[i][:0])
	}
	first := func(i int) int { // the smallest clip that fits record i
		for e := range o.Clips {
			bound := uint64(b.bound(e, w.missing[i]))
			if square := bound * bound; w.rounded[i] <= square && w.norms[i] <= square<<(2*o.Fine) {
				return e
			}
		}
		return clips
	}
	at := w.at[:m]
	for i := range at {
		at[i] = first(i)
		w.lengths[at[i]]++
	}
	if o.Measure {
		return
	}
	if clips == 0 {
		b.sum(w, &w.whole[0], kept, classes, noClip)
		return
	}
	for e := range o.Clips {
		b.sum(w, &w.whole[e], kept, classes, e)
		b.sum(w, &w.cut[e], kept, classes, ^e)
	}
}

// move writes a record relative to its centre to out. It returns the squared length, the squared
// length after rounding to whole steps, and the absent attributes.
func (b *MomentsBuilder) move(out, x []int64, missing []int) (norm, rounded uint64, lacks []int) {
	o := b.options
	for j, v := range x {
		switch {
		case v == Absent:
			if out[j] = 0; len(missing) == 0 || missing[len(missing)-1] != o.AttributeOf[j] { // entries of an attribute are adjacent
				missing = append(missing, o.AttributeOf[j])
			}
			continue
		case o.Move != nil:
			v = o.Move[j].Apply(v, o.One, o.Fine)
		default:
			v -= o.Centre[j] << o.Fine
		}
		out[j] = v
		norm += uint64(v * v) // terms are at most 2^40, and there are far fewer than 2^23
		whole := Round(v, o.Fine)
		rounded += uint64(whole * whole)
	}
	return norm, rounded, missing
}

// bound returns the length to which a record is clipped at clip e. It is shorter for records with
// absent values.
func (b *MomentsBuilder) bound(e int, lacks []int) int64 {
	clip := b.options.Clips[e]
	if len(lacks) == 0 {
		return clip
	}
	square := clip * clip
	for _, j := range lacks {
		square -= b.shorter[e][j]
	}
	return int64(root(uint64(max(square, 0))))
}

// noClip represents no clip: records are not clipped.
const noClip = math.MaxInt

// sum adds records of a block to sums. For which = clip e it adds the records for which e is the
// smallest clip that fits, unchanged. For which = ^e it adds the records longer than e, clipped to
// it.
func (b *MomentsBuilder) sum(w *momentWorker, sums *[]int64, kept []int64, classes []int, which int) {
	l := b.options.Layout
	d := l.Columns
	w.chosen, w.classes, w.lacking = w.chosen[:0], w.classes[:0], w.lacking[:0]
	n, clip := 0, -1
	if which < 0 {
		clip = ^which
	}
	for i := range len(kept) / d {
		if which != noClip && (clip < 0 && w.at[i] != which || clip >= 0 && w.at[i] <= clip) {
			continue
		}
		w.chosen = append(w.chosen, kept[i*d:][:d]...)
		if clip >= 0 {
			dp.ClipL2(w.chosen[n*d:], b.bound(clip, w.missing[i])<<b.options.Fine)
		}
		if l.Classes > 0 {
			w.classes = append(w.classes, classes[i])
		}
		w.lacking = append(w.lacking, w.missing[i])
		n++
	}
	if n == 0 {
		return
	}
	if *sums == nil {
		*sums = make([]int64, l.Entries())
		clear(*sums) // see accumulator.add
	}
	s := *sums
	addMoments(s, w.columns, b.whole(w, which), w.chosen, d, l)
	if clip >= 0 && l.Cut {
		s[l.CutCount()] += int64(n)
	}
	if clip >= 0 && l.CutSums {
		row := s[l.CutSum(0):][:d]
		for i, v := range w.chosen {
			row[i%d] += v
		}
	}
	if l.Classes == 0 && !l.Fourth && l.Attributes == 0 {
		return
	}
	for i := range n {
		b.addParts(s, w.chosen[i*d:][:d], w.coarse[i*d:][:d], w.class(i), w.lacking[i])
	}
}

// Round returns v, a number of fine steps, in whole steps, rounded half away from zero.
func Round(v int64, fine uint) int64 {
	half := int64(1) << fine >> 1
	if v < 0 {
		return -((half - v) >> fine)
	}
	return (v + half) >> fine
}

// whole returns the chosen records in whole steps. Records that are clipped are clipped again after
// rounding, as this may lengthen them.
func (b *MomentsBuilder) whole(w *momentWorker, which int) []int64 {
	if b.options.Fine == 0 {
		w.coarse = w.chosen
		return w.chosen
	}
	d := b.options.Layout.Columns
	w.coarse = w.coarse[:0]
	for _, v := range w.chosen {
		w.coarse = append(w.coarse, Round(v, b.options.Fine))
	}
	if which >= 0 { // they fit without clipping
		return w.coarse
	}
	for i, lacks := range w.lacking {
		dp.ClipL2(w.coarse[i*d:][:d], b.bound(^which, lacks))
	}
	return w.coarse
}

func (w *momentWorker) class(i int) int {
	if len(w.classes) == 0 {
		return 0
	}
	return w.classes[i]
}

// addParts adds the parts of one record other than products and sums.
func (b *MomentsBuilder) addParts(s, x, coarse []int64, class int, lacks []int) {
	l, one := b.options.Layout, b.options.One
	if l.Classes > 0 {
		s[l.ClassCount(class)]++
		if l.Products {
			row := s[l.ClassSum(class, 0):][:len(x)]
			for j, v := range x {
				row[j] += v
			}
		}
	}
	if l.Fourth {
		row := s[l.FourthPower(0):][:len(x)]
		for j, v := range coarse {
			row[j] += FourthPower(v, one)
		}
	}
	for at, a := range lacks {
		s[l.Absent(class, a)]++
		if !l.Products {
			continue
		}
		for _, other := range lacks[:at] {
			s[l.BothAbsent(other, a)]++
		}
		for j, v := range x {
			s[l.SumAbsent(j, a)] += v
		}
	}
}

// FourthPower returns ⌊min(|v|, one)⁴/one³⌋: in units of one, the fourth power of an entry limited
// to ±1.
func FourthPower(v, one int64) int64 {
	v = min(max(v, -v), one) // at most 2^14
	return v * v * v * v / (one * one * one)
}

// root returns ⌊√n⌋ for n below 2^62.
func root(n uint64) uint64 {
	r := uint64(math.Sqrt(float64(n)))
	for r*r > n {
		r--
	}
	for (r+1)*(r+1) <= n {
		r++
	}
	return r
}

// addMoments adds the products of x and the sums of fine to sums, without weights. x and fine are
// the same few records, in whole and in fine steps. Entries are at most 2^20, so products are at
// most 2^40, and all sums are exact in int64.
func addMoments(sums []int64, columns []int32, x, fine []int64, d int, l MomentLayout) {
	n := len(x) / d
	for j := range d {
		column := columns[j*n : (j+1)*n]
		var sum int64
		for i := range column {
			column[i] = int32(x[i*d+j])
			sum += fine[i*d+j]
		}
		sums[l.Sum(j)] += sum
	}
	if !l.Products {
		return
	}
	// Two rows of the triangle at a time: four numbers read give four products.
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

// Sketch returns the weighted sums so far, one row for each clip, as a copy.
func (b *MomentsBuilder) Sketch() Sketch {
	entries := b.options.Layout.Entries()
	s := Sketch{Side: Moments, Rows: max(len(b.options.Clips), 1), Cols: entries}
	s.Data = make([]int64, s.Rows*s.Cols)
	for e := range s.Rows {
		row := s.Row(e)
		if e > 0 {
			copy(row, s.Row(e-1)) // includes the unclipped records of all smaller clips
		}
		for i := range b.workers {
			if w := &b.workers[i]; w.whole != nil {
				add(row, w.whole[e])
			}
		}
	}
	for e := range s.Rows {
		for i := range b.workers {
			if w := &b.workers[i]; e < len(w.cut) {
				add(s.Row(e), w.cut[e])
			}
		}
		b.options.Layout.weigh(s.Row(e), b.options.Weights[e])
	}
	return s
}

func add(to, from []int64) {
	for i, v := range from {
		to[i] += v
	}
}
