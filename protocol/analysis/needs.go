package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
)

// Quotas bound what one study may take at its aggregator, in bytes.
type Quotas struct {
	Memory int64 // while its analyses run
	Disk   int64 // its releases, and the texts that its parties seal to each other
}

// DefaultMemory is the quota of an aggregator whose operator sets none.
const DefaultMemory = 512 << 20

// QuotaError refuses a study, or a release, that takes more than a quota.
type QuotaError struct {
	Of           string // who takes it
	What         string // memory or disk
	Needs, Quota int64
}

// The keys of the aggregator's configuration that set quotas.
var quotaKeys = map[string]string{onMemory: "analysis: memory_mib", onDisk: "uploads: study_mib"}

const onMemory, onDisk = "memory", "disk"

func (e *QuotaError) Error() string { return e.Fail().Error() }

// Fail is what the catalogue says of it.
func (e *QuotaError) Fail() *fail.Error {
	return fail.Quota.New(e.Of, mebibytes(e.Needs), e.What, mebibytes(e.Quota), quotaKeys[e.What])
}

func mebibytes(n int64) int64 { return n>>20 + min(n&(1<<20-1), 1) }

// Bytes that a record of a records-side sketch takes in memory while it is analysed, beside its numbers:
// its label, name, noise, what is said of it to its party, and what is known of each neighbour.
const (
	recordBytes   = 512
	neighborBytes = 256
)

// need is what a sketch takes: for itself, and for each record of a party.
type need struct{ fixed, record int64 }

// of is what it takes of so many records together.
func (n need) of(records int64) int64 { return plus(n.fixed, times(n.record, records)) }

// needs are those of a sketch: of memory while an analysis of it runs, and of disk at the most.
type needs struct {
	memory, disk need
	gathered     need // what is gathered on the disk, beside its releases
	apart        bool // it is
}

// needs are those of a sketch and of what the study asks of it. Where memory does not take what
// grows with the sketch, that is on the disk, and what passes over it work in is in memory.
func (q Quotas) needs(s *study.Study, index int, records int64) (out needs, err error) {
	var widest, merged, cols int64 // of parties' sketches of sums or columns: the largest, and what they are merged to
	for party := range s.Parties {
		plan, err := release.For(s, party, index)
		if err != nil {
			return out, err
		}
		rows, own := plan.Shape(1)
		beside := int64(0)
		for _, c := range plan.RowColumns() {
			beside += int64(c.Width)
		}
		if s.Sketches[index].Side == sketch.Records {
			out.disk.record = max(out.disk.record, 8*own+beside)
			continue
		}
		size := times(8*rows, own)
		out.disk.fixed, widest = plus(out.disk.fixed, size), max(widest, size)
		if s.Merge(index) == study.Add {
			merged, cols = widest, max(cols, own)
		} else {
			merged, cols = plus(merged, size), cols+own
		}
	}
	var whole, apart need
	switch s.Sketches[index].Side {
	case sketch.Records:
		whole = need{record: 16*int64(s.Sketches[index].Projection.K) + recordBytes + neighborBytes*int64(mostNeighbors(s))}
		apart, out.gathered = q.recordsApart(s, index, records)
	case sketch.Columns:
		apart.fixed = matrices(s, index, cols)
		whole.fixed, out.gathered.fixed = plus(merged, apart.fixed), merged
	case sketch.Moments:
		// A release, its tally and the one of all, or one of each party that sums around its own centre.
		tallies := plus(times(5, widest), times(2*int64(len(s.Parties)), widest))
		apart.fixed = plus(2*widest, matrices(s, index, int64(len(s.Features(0, index)))))
		whole.fixed, out.gathered.fixed = plus(tallies, apart.fixed), tallies
	default:
		// Their sum, as integers and in units, where they lie, and copies that are grouped.
		whole.fixed = times(6, widest)
		if at, ok := s.Moments(); ok && s.Sketches[index].Side != sketch.Counts && s.Sketches[at].Side == sketch.Moments {
			known, err := Quotas{Memory: 0}.needs(asks(s), at, records)
			if err != nil {
				return out, err
			}
			whole.fixed = plus(whole.fixed, known.memory.fixed)
		}
		out.memory = whole
		return out, nil
	}
	if out.memory = whole; whole.of(records) <= q.Memory || apart.of(records) >= whole.of(records) {
		out.gathered = need{}
		return out, nil
	}
	out.apart, out.memory = true, apart
	return out, nil
}

// asks is the study as if it asked nothing.
func asks(s *study.Study, analyses ...study.Analysis) *study.Study {
	out := *s
	out.Analyses = analyses
	return &out
}

// recordsApart are those of records that are gathered on the disk: in memory what passes over them
// work in and means of clusters, on the disk their coordinates, once more for each copy, and what
// analyses say of them.
func (q Quotas) recordsApart(s *study.Study, index int, records int64) (memory, gathered need) {
	k := int64(s.Sketches[index].Projection.K)
	memory.fixed = plus(2*q.work(), times(pointBytes, k))
	var passing, lasting int64
	for _, a := range s.Analyses {
		row := kindOf(a.Kind)
		if row.record != nil {
			takes, stays := row.record(a, k)
			passing, lasting = max(passing, takes), lasting+stays
		}
		if o, ok := a.Options.(study.KMeansOptions); ok {
			memory.fixed = plus(memory.fixed, cluster.Sums(max(o.Clusters, o.MaxClusters), int(k)))
		}
	}
	gathered.record = 8*k + labelBytes + passing + lasting
	if s.Merge(index) != study.Join {
		return memory, gathered
	}
	gathered.record += 8*k + 4                              // copies of those that all have
	gathered.record += int64(len(release.Pseudonym{})) + 12 // and which record it is, and who has it
	const few = 16
	if n := len(s.Parties); n > few { // any set of them may have a record of its own
		memory.record += holdingBytes
	} else {
		memory.fixed += min(holdingBytes<<n, times(holdingBytes, records))
	}
	return memory, gathered
}

// Bytes, about, of what there is in memory for each coordinate of a record where records lie apart, and for
// each set of parties that have a record; and of a label on the disk.
const (
	labelBytes   = 8
	pointBytes   = 2048
	holdingBytes = 100
)

// matrices are about what products of so many columns take, and what analyses make of them.
func matrices(s *study.Study, index int, cols int64) (bytes int64) {
	square := func(n, times int64) int64 { return times * 8 * n * n }
	some := int64(atOnce + len(s.Parties)) // at a time, of many
	if s.Sketches[index].Side == sketch.Moments {
		some = cols // they are there, and not products of a few
	}
	n := min(cols, some)
	bytes = square(n, gramMatrices)
	for _, a := range s.Analyses {
		if at, ok := s.SketchFor(a); !ok || at != index {
			continue
		}
		if of := kindOf(a.Kind).matrices; of > 0 {
			all := min(cols, int64(decompose.MaxEigen+len(s.Parties)))
			bytes = max(bytes, square(all, gramMatrices+of))
		}
		bytes = max(bytes, square(n, gramMatrices)+times(inlineBytes, min(cols, MostInline)*min(cols, MostInline)))
	}
	return bytes
}

// gramMatrices are of products as they are added up, and without noise; inlineBytes are of a pair in a document.
const (
	gramMatrices = 4
	inlineBytes  = 200
)

// work is what a pass over records that are on the disk works in, in bytes.
func (q Quotas) work() int64 {
	const most = 64 << 20
	return min(most, q.Memory/4)
}

// stated is how many records the study file says that there are.
func stated(s *study.Study) (records int64) {
	for _, p := range s.Parties {
		records = plus(records, p.Records)
	}
	return records
}

// mostNeighbors is how many neighbours of a record an analysis of the study asks for.
func mostNeighbors(s *study.Study) (n int) {
	for _, a := range s.Analyses {
		switch o := a.Options.(type) {
		case study.NeighborsOptions:
			n = max(n, o.Neighbors)
		case study.OutliersOptions:
			n = max(n, o.Neighbors)
		}
	}
	return n
}

// Needs is about what the analyses of a sketch take of memory, where the contributions have so many
// records together.
func (q Quotas) Needs(s *study.Study, index int, records int64) (int64, error) {
	n, err := q.needs(s, index, records)
	return n.memory.of(records), err
}

// Gathers is how many bytes of a sketch are gathered on the disk while it is analysed, beside its releases.
func (q Quotas) Gathers(s *study.Study, index int, records int64) (int64, error) {
	n, err := q.needs(s, index, records)
	return n.gathered.of(records), err
}

// Apart reports whether a sketch of so many records is gathered on the disk.
func (q Quotas) Apart(s *study.Study, index int, records int64) (bool, error) {
	n, err := q.needs(s, index, records)
	return n.apart, err
}

// dense is a matrix of so many records, where there is room for it.
func dense(from room.Giver, rows, cols int) (*mat.Dense, error) {
	data, err := room.Of[float64](from, rows*cols)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(rows, cols, data), nil
}

// needs are those of a sketch for what the run is asked.
func (r *run) needs(sk int) (needs, error) {
	asked := *r.Study
	asked.Analyses = r.Analyses
	quota := r.Memory
	if quota == 0 || r.Scratch == nil { // there is only memory
		quota = math.MaxInt64
	}
	return Quotas{Memory: quota}.needs(&asked, sk, r.records())
}

// work is how many bytes passes over the records of a sketch may work in; 0: as many as they like.
func (r *run) work(sk int) int64 {
	if n, err := r.needs(sk); err == nil && n.apart {
		return Quotas{Memory: r.Memory}.work()
	}
	return 0
}

// Check refuses a study that takes more than the quotas if every party has as many records as the
// study file says.
func (q Quotas) Check(s *study.Study) error {
	records := stated(s)
	return q.each(s, records, func(what string, quota int64, n need) error {
		if takes := n.of(records); takes > quota {
			return &QuotaError{Of: keptOf(s, what), What: what, Needs: takes, Quota: quota}
		}
		return nil
	})
}

// Admit refuses a release of more records than a party's share of the quotas allows: what its
// records take by the study file, and an equal part of what is left then. So no party takes
// another's room, whoever comes first.
func (q Quotas) Admit(s *study.Study, party int, records int64) error {
	return q.each(s, anyRecords, func(what string, quota int64, n need) error {
		if n.fixed > quota {
			return &QuotaError{Of: keptOf(s, what), What: what, Needs: n.fixed, Quota: quota}
		}
		if n.record == 0 {
			return nil
		}
		if most := share(s, party, (quota-n.fixed)/n.record); records > most {
			return &QuotaError{Of: fmt.Sprintf("%d records of %s, whose share of the quota is %d (as the study file says how many each party has),", records, s.Parties[party].Name, most),
				What: what, Needs: n.of(records), Quota: plus(n.fixed, times(n.record, most))}
		}
		return nil
	})
}

// Shares is how many records each party may release under the quotas; nil where their number
// makes no difference.
func (q Quotas) Shares(s *study.Study) (out []int64, err error) {
	err = q.each(s, anyRecords, func(_ string, quota int64, n need) error {
		if n.record == 0 {
			return nil
		}
		for party := range s.Parties {
			most := share(s, party, max(quota-n.fixed, 0)/n.record)
			if len(out) <= party {
				out = append(out, most)
			}
			out[party] = min(out[party], most)
		}
		return nil
	})
	return out, err
}

// share divides room for so many records.
func share(s *study.Study, party int, room int64) int64 {
	own, all := s.Parties[party].Records, stated(s)
	if all > room { // the study was made under another quota
		return int64(float64(room) * (float64(own) / float64(all)))
	}
	return own + (room-all)/int64(len(s.Parties))
}

// anyRecords stands for as many as the disk takes.
const anyRecords = -1

// onDisk is how many records the disk takes if none are gathered there: of so many nothing is in memory
// that does not have to be.
func (q Quotas) onDisk(s *study.Study) (int64, error) {
	var record int64
	for index := range s.Sketches {
		n, err := q.needs(s, index, 0)
		if err != nil {
			return 0, err
		}
		record = plus(record, n.disk.record)
	}
	return max(q.Disk/max(record, 1), stated(s)), nil
}

// sealed is what the texts take that the parties of a study seal to each other, where they are kept beside the
// board: in each attempt as many as there are pairs.
func sealed(s *study.Study) int64 {
	if !s.Apart() {
		return 0
	}
	n := len(s.Parties)
	return times(int64(n)*int64(n), int64(agree.TextSize(n))*int64(s.Attempts))
}

// keptOf is what the bytes of a study are of.
func keptOf(s *study.Study, what string) string {
	if what == onDisk && s.Apart() {
		return fmt.Sprintf("the study's releases, and what %d parties seal to each other in %d attempts,", len(s.Parties), s.Attempts)
	}
	return "the study's releases"
}

// AdmitSealed refuses the texts beside a share where those of all shares do not fit.
func (q Quotas) AdmitSealed(s *study.Study) error {
	if takes := sealed(s); takes > q.Disk {
		return &QuotaError{Of: keptOf(s, onDisk), What: onDisk, Needs: takes, Quota: q.Disk}
	}
	return nil
}

// each holds quotas against needs: of memory each sketch's, as they are analysed one after the
// other, of disk all together.
func (q Quotas) each(s *study.Study, records int64, check func(what string, quota int64, n need) error) error {
	together := need{fixed: sealed(s)}
	open := records == anyRecords
	if open {
		var err error
		if records, err = q.onDisk(s); err != nil {
			return err
		}
	}
	for index := range s.Sketches {
		n, err := q.needs(s, index, records)
		if err == nil && open && n.memory.fixed > q.Memory { // too little to gather any
			n, err = q.needs(s, index, stated(s))
		}
		if err != nil {
			return err
		}
		if err := check(onMemory, q.Memory, n.memory); err != nil {
			return err
		}
		together.fixed = plus(together.fixed, plus(n.disk.fixed, n.gathered.fixed))
		together.record = plus(together.record, n.disk.record+n.gathered.record)
	}
	return check(onDisk, q.Disk, together)
}

// plus and times stop at the largest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
