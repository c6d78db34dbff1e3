package analysis

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// points are the records that analyses of the records side run on. In horizontal studies these are
// all parties' records, one party after the other, in the order of their releases' rows. In
// vertical studies they are the records joined from several parties' rows, by pseudonym.
type points struct {
	matrix *mat.Dense // m × k, one record a row, in encoded units
	of     []rows     // by contribution
	has    []holding  // the distinct ones
	by     []uint32   // by record: index into has; nil if all records are alike
	joined *Joined    // nil if nothing had to be joined
}

// rows gives the record of each row of a contribution's release: consecutive records, or a list,
// which may contain notJoined.
type rows struct {
	first, count int
	listed       []int32
}

// len returns the number of rows of the release.
func (r rows) len() int { return max(r.count, len(r.listed)) }

// at returns the record of a row, or notJoined.
func (r rows) at(row int) int {
	if r.listed != nil {
		return int(r.listed[row])
	}
	return r.first + row
}

// all yields every row with its record, or notJoined.
func (r rows) all() iter.Seq2[int, int] {
	return func(yield func(row, record int) bool) {
		for row := range r.len() {
			if !yield(row, r.at(row)) {
				return
			}
		}
	}
}

// holding is the set of parties that hold a joined record, and the noise on each coordinate of it.
type holding struct {
	who   uint64 // contributions, one bit each
	noise estimate.Noise
}

// len returns the number of records.
func (p *points) len() int {
	m, _ := p.matrix.Dims()
	return m
}

// noise returns the noise on one coordinate of a record.
func (p *points) noise(record int) estimate.Noise {
	if p.by == nil {
		return p.has[0].noise
	}
	return p.has[p.by[record]].noise
}

// holders yields the contributions that hold a record, in order.
func (p *points) holders(record int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if p.by == nil {
			at, _ := slices.BinarySearchFunc(p.of, record, func(r rows, record int) int {
				if r.first+r.count <= record {
					return -1
				}
				return 1
			})
			yield(at)
			return
		}
		for who := p.has[p.by[record]].who; who != 0; who &= who - 1 {
			if !yield(bits.TrailingZeros64(who)) {
				return
			}
		}
	}
}

// holder returns the first of the holders.
func (p *points) holder(record int) int {
	for n := range p.holders(record) {
		return n
	}
	return 0 // every record has one
}

// notJoined stands for the record of a row that is not among the points because other parties lack
// it.
const notJoined = -1

// Joined says how the rows of several parties' releases became records.
type Joined struct {
	Join    study.JoinRule `json:"join"`                           // all: records of every party in this result; any: of at least one
	Records int            `json:"records"`                        // number of joined records, which the answer is about
	In      []int          `json:"in" by:"parties+1" of:"records"` // In[i]: number of records in the releases of exactly i+1 parties, joined or not
}

func (j *Joined) check(Analysis) error {
	total := 0
	for _, n := range j.In {
		if n < 0 {
			return fmt.Errorf("%d records of some parties", n)
		}
		total += n
	}
	if j.Records < 0 || j.Records > total {
		return fmt.Errorf("%d records joined of %d", j.Records, total)
	}
	return nil
}

// points returns the merged records of a records-side sketch. It merges once per run. Callers must
// not change what it returns.
func (r *run) points(ctx context.Context, sk int) (*points, error) {
	if p := r.gathered[sk]; p != nil {
		return p, nil
	}
	merge := r.stacked
	if r.Study.Merge(sk) == study.Join {
		merge = r.join
	}
	p, err := merge(ctx, sk)
	if err != nil {
		return nil, err
	}
	if r.gathered == nil {
		r.gathered = map[int]*points{}
	}
	r.gathered[sk] = p
	return p, nil
}

// stretch is how many records are merged between checks of the context.
const stretch = 1024

// stacked concatenates the parties' records. All have the same noise.
func (r *run) stacked(ctx context.Context, sk int) (*points, error) {
	out, m := &points{}, 0
	for _, c := range r.Contributions {
		out.of = append(out.of, rows{first: m, count: c.Sketches[sk].Rows})
		m += c.Sketches[sk].Rows
	}
	plan, err := release.For(r.Study, r.Contributions[0].Party, sk)
	if err != nil {
		return nil, err
	}
	out.has = []holding{{noise: plan.NoiseOf(0, 1, 1)}}
	from, err := r.persistent(sk)
	if err != nil {
		return nil, err
	}
	if out.matrix, err = dense(from, m, plan.Spec().K); err != nil {
		return nil, err
	}
	return out, r.fill(ctx, sk, out)
}

// fill adds the rows of all releases to their records, each at its coordinates.
func (r *run) fill(ctx context.Context, sk int, to *points) error {
	for n, c := range r.Contributions {
		plan, err := release.For(r.Study, c.Party, sk)
		if err != nil {
			return err
		}
		places, unit := plan.Coordinates(), plan.Unit()
		if err := r.eachRow(ctx, c, sk, func(i int, row []int64) error {
			at := to.of[n].at(i)
			if at == notJoined {
				return nil
			}
			record := to.matrix.RawRowView(at)
			for j, v := range row {
				record[places[j]] += float64(v) * unit
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// eachRow calls take with the rows of a contribution's sketch of the records side, without labels.
// A row is valid until take returns.
func (r *run) eachRow(ctx context.Context, c Contribution, sk int, take func(i int, row []int64) error) error {
	s := c.Sketches[sk]
	if s.Data != nil || c.Scan == nil {
		for i := range s.Rows {
			if i%stretch == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := take(i, s.Row(i)); err != nil {
				return err
			}
		}
		return nil
	}
	width := s.Cols
	if _, labelled := r.Study.LabelOf(c.Party, sk); labelled {
		width++ // the label follows the row
	}
	row, i, failed := make([]int64, 0, width), 0, error(nil)
	err := c.Scan(sk, func(entries []int64) {
		for len(entries) > 0 && failed == nil {
			n := min(len(entries), width-len(row))
			row, entries = append(row, entries[:n]...), entries[n:]
			if len(row) < width {
				return
			}
			if i == s.Rows {
				failed = fmt.Errorf("it goes on after its %d rows", s.Rows)
			} else if failed = take(i, row[:s.Cols]); failed == nil && i%stretch == 0 {
				failed = ctx.Err()
			}
			row, i = row[:0], i+1
		}
	})
	switch {
	case err != nil:
		return &brokenInput{err}
	case failed == nil && i != s.Rows:
		return &brokenInput{fmt.Errorf("it ends after %d of %d rows", i, s.Rows)}
	}
	return failed
}

// join merges the rows of releases with the same pseudonym into one record, in the order of
// pseudonyms, which every release has. If a party lacks a record, its part of it is zero, the
// public centre of its columns, without its noise. Under join: all there is no such record.
func (r *run) join(ctx context.Context, sk int) (*points, error) {
	out := &points{joined: &Joined{Join: r.Study.Records.Join, In: make([]int, len(r.Contributions))}}
	law, err := r.newJoinedNoise(sk)
	if err != nil {
		return nil, err
	}
	from, err := r.persistent(sk)
	if err != nil {
		return nil, err
	}
	left, total := make([][]release.Pseudonym, len(r.Contributions)), 0
	for n, c := range r.Contributions {
		left[n] = c.Rows[sk].Pseudonyms
		total += len(left[n])
		listed, err := room.Of[int32](from, len(left[n]))
		if err != nil {
			return nil, err
		}
		out.of = append(out.of, rows{listed: listed[:0]})
	}
	if total > math.MaxInt32 {
		return nil, unanswerable("%d rows are more than the %d that are joined", total, math.MaxInt32)
	}
	if out.by, err = room.Of[uint32](from, r.mostJoined(total, left)); err != nil {
		return nil, err
	}
	out.by = out.by[:0]
	known := map[uint64]uint32{}
	for {
		if len(out.by)%stretch == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		who := firstOf(left)
		if who == 0 {
			break
		}
		count := bits.OnesCount64(who)
		out.joined.In[count-1]++
		at := notJoined
		if out.joined.Join == study.JoinAny || count == len(left) {
			at = len(out.by)
			kind, met := known[who]
			if !met {
				kind = uint32(len(out.has))
				known[who], out.has = kind, append(out.has, holding{who, law.of(who)})
			}
			out.by = append(out.by, kind)
		}
		for n := range left {
			if who>>n&1 == 1 {
				out.of[n].listed = append(out.of[n].listed, int32(at))
				left[n] = left[n][1:]
			}
		}
	}
	out.joined.Records = len(out.by)
	if len(out.by) == 0 {
		return nil, unanswerable("no record is in the releases of all %d parties", len(left))
	}
	if out.matrix, err = dense(from, len(out.by), r.Study.Sketches[sk].Projection.K); err != nil {
		return nil, err
	}
	return out, r.fill(ctx, sk, out)
}

// mostJoined returns the largest number of records that so many rows can become.
func (r *run) mostJoined(total int, left [][]release.Pseudonym) int {
	if r.Study.Records.Join == study.JoinAny {
		return total
	}
	for _, l := range left {
		total = min(total, len(l))
	}
	return total
}

// firstOf returns the contributions whose next pseudonym is the least, one bit each; 0 if none is
// left. Records are joined over at most study.MostWhole parties.
func firstOf(left [][]release.Pseudonym) (who uint64) {
	var least release.Pseudonym
	for n, l := range left {
		if len(l) == 0 {
			continue
		}
		switch c := l[0].Compare(least); {
		case who == 0 || c < 0:
			who, least = 1<<n, l[0]
		case c == 0:
			who |= 1 << n
		}
	}
	return who
}

// joinedNoise computes the noise of joined records from their holders.
type joinedNoise struct {
	spec   projection.Spec
	parts  []estimate.Times // by contribution
	beside bool             // parties have different coordinates, instead of adding to the same ones
}

func (r *run) newJoinedNoise(sk int) (*joinedNoise, error) {
	out := &joinedNoise{spec: r.Study.Sketches[sk].Projection}
	out.beside = out.spec.Family == projection.Identity
	for _, c := range r.Contributions {
		plan, err := release.For(r.Study, c.Party, sk)
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, estimate.Times{Coordinates: len(plan.Coordinates()), Noise: plan.NoiseOf(0, 1, 1)})
	}
	return out, nil
}

// of returns the noise on a record of these holders: that of all of them together.
func (j *joinedNoise) of(who uint64) estimate.Noise {
	var parts []estimate.Times
	var sum estimate.Noise
	for n, p := range j.parts {
		if who>>n&1 == 1 {
			parts, sum = append(parts, p), sum.Plus(p.Noise)
		}
	}
	if j.beside {
		sum = estimate.Beside(j.spec.K, parts)
	}
	return sum
}

// law returns the error model of a sketch's records, with the mean noise over all records.
func (r *run) law(sk int, all *points) (estimate.Records, error) {
	plan, err := release.For(r.Study, r.Contributions[0].Party, sk)
	if err != nil {
		return estimate.Records{}, err
	}
	_, k := all.matrix.Dims()
	step, features := 1/float64(r.Study.Bits.One()), float64(r.features(plan))
	rounding := float64(step*step) / 12 * features / float64(k)
	out := estimate.Records{K: k, Rounding: rounding, Identity: plan.Spec().OrthogonalRows(r.features(plan)), Noise: estimate.Noise{Sources: all.noise(0).Sources}}
	m := float64(all.len())
	for record := range all.len() {
		n := all.noise(record)
		out.Noise.Variance += n.Variance / m
		out.Noise.FourthCumulant += n.FourthCumulant / m
	}
	return out, nil
}

// features returns how many features a record is projected from; in joined sketches those of all
// parties.
func (r *run) features(plan release.Plan) int {
	if r.Study.Merge(plan.Index) == study.Join {
		return len(r.Study.AllFeatures(plan.Index))
	}
	return len(plan.Features)
}

// whole counts the records that every contribution holds; ok is false if those are all records.
func (p *points) whole() (n int, ok bool) {
	if p.joined == nil || len(p.has) == 1 {
		return 0, false
	}
	for record := range p.by {
		if p.isWhole(record) {
			n++
		}
	}
	return n, n < len(p.by)
}

func (p *points) isWhole(record int) bool {
	return bits.OnesCount64(p.has[p.by[record]].who) == len(p.of)
}

// wholes copies the count records that every contribution holds, without their holders.
func (r *run) wholes(sk int, p *points, count int) (*points, error) {
	from, err := r.scratch(sk)
	if err != nil {
		return nil, err
	}
	_, k := p.matrix.Dims()
	matrix, err := dense(from, count, k)
	if err != nil {
		return nil, err
	}
	out := &points{matrix: matrix, has: p.has}
	if out.by, err = room.Of[uint32](from, count); err != nil {
		return nil, err
	}
	i := 0
	for record, kind := range p.by {
		if p.isWhole(record) {
			matrix.SetRow(i, p.matrix.RawRowView(record))
			out.by[i] = kind
			i++
		}
	}
	return out, nil
}
