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

// Quotas limit what one study may use at its aggregator, in bytes.
type Quotas struct {
	Memory int64 // while its analyses run
	Disk   int64 // its releases, and the sealed texts between its parties
}

// DefaultMemory is the quota of an aggregator whose operator sets none.
const DefaultMemory = 512 << 20

// QuotaError reports a study or a release that needs more than a quota.
type QuotaError struct {
	Of           string // what needs it
	What         string // memory or disk
	Needs, Quota int64
}

// quotaKeys are the configuration keys of the aggregator that set the quotas.
var quotaKeys = map[string]string{onMemory: "analysis: memory_mib", onDisk: "uploads: study_mib"}

const onMemory, onDisk = "memory", "disk"

func (e *QuotaError) Error() string { return e.Fail().Error() }

// Fail returns the error of the catalogue.
func (e *QuotaError) Fail() *fail.Error {
	return fail.Quota.New(e.Of, mebibytes(e.Needs), e.What, mebibytes(e.Quota), quotaKeys[e.What])
}

func mebibytes(n int64) int64 { return n>>20 + min(n&(1<<20-1), 1) }

// Memory in bytes of a record of a records-side sketch during its analysis, beside its numbers: its
// label, name, noise, what its party is told of it, and what is known of each neighbour.
const (
	recordBytes   = 512
	neighborBytes = 256
)

// need is what a sketch needs: a fixed part, and a part per record of a party.
type need struct{ fixed, record int64 }

// of returns the need of so many records together.
func (n need) of(records int64) int64 { return plus(n.fixed, times(n.record, records)) }

// needs are the memory and disk that a sketch needs at most: memory during one analysis, disk in
// all.
type needs struct {
	memory, disk need
	gathered     need // on the disk during the analysis, beside the releases
	apart        bool // whether anything is gathered on the disk
}

// needs returns what a sketch needs for the study's analyses. If the parts that grow with the
// sketch do not fit into memory, they are on the disk, and memory holds only the working space of
// passes over them.
func (q Quotas) needs(s *study.Study, index int, records int64) (out needs, err error) {
	var widest, merged, cols int64 // parties' sketches of sums or columns: size of the largest, size when merged, columns when merged
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
		// A release, its tally and the total, or one total per party that sums around its own
		// centre.
		tallies := plus(times(5, widest), times(2*int64(len(s.Parties)), widest))
		apart.fixed = plus(2*widest, matrices(s, index, int64(len(s.Features(0, index)))))
		whole.fixed, out.gathered.fixed = plus(tallies, apart.fixed), tallies
	default:
		// Their sum as integers, the sum in units, positions, and grouped copies.
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

// asks returns a copy of the study with only these analyses.
func asks(s *study.Study, analyses ...study.Analysis) *study.Study {
	out := *s
	out.Analyses = analyses
	return &out
}

// recordsApart returns the needs of records that are gathered on the disk. Memory holds the working
// space of passes and the cluster means. The disk holds the coordinates, a copy of them for joined
// sketches, and what analyses say of the records.
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
	gathered.record += 8*k + 4                              // copies of the records that all parties hold
	gathered.record += int64(len(release.Pseudonym{})) + 12 // pseudonym, record index and holders
	const few = 16
	if n := len(s.Parties); n > few { // any set of parties may hold a record that no other set holds
		memory.record += holdingBytes
	} else {
		memory.fixed += min(holdingBytes<<n, times(holdingBytes, records))
	}
	return memory, gathered
}

// Rough sizes in bytes: a label on the disk, memory for each coordinate of a record when records
// are on the disk, and memory for each set of parties that hold a record.
const (
	labelBytes   = 8
	pointBytes   = 2048
	holdingBytes = 100
)

// matrices returns roughly the memory for products of so many columns and for the analyses of them.
func matrices(s *study.Study, index int, cols int64) (bytes int64) {
	square := func(n, times int64) int64 { return times * 8 * n * n }
	some := int64(atOnce + len(s.Parties)) // how many of them are in memory at a time
	if s.Sketches[index].Side == sketch.Moments {
		some = cols // moments hold all products
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

// gramMatrices counts the matrices held while products are added up and denoised; inlineBytes is
// the size of a pair in a document.
const (
	gramMatrices = 4
	inlineBytes  = 200
)

// work returns the working space, in bytes, of a pass over records on the disk.
func (q Quotas) work() int64 {
	const most = 64 << 20
	return min(most, q.Memory/4)
}

// stated returns the number of records that the study file states.
func stated(s *study.Study) (records int64) {
	for _, p := range s.Parties {
		records = plus(records, p.Records)
	}
	return records
}

// mostNeighbors returns the largest number of neighbours that an analysis of the study asks for.
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

// Needs returns roughly how much memory the analyses of a sketch need if the contributions have so
// many records together.
func (q Quotas) Needs(s *study.Study, index int, records int64) (int64, error) {
	n, err := q.needs(s, index, records)
	return n.memory.of(records), err
}

// ScratchDisk returns how many bytes of a sketch are on the disk while it is analysed, beside its
// releases.
func (q Quotas) ScratchDisk(s *study.Study, index int, records int64) (int64, error) {
	n, err := q.needs(s, index, records)
	return n.gathered.of(records), err
}

// OnDisk reports whether a sketch of so many records is gathered on the disk.
func (q Quotas) OnDisk(s *study.Study, index int, records int64) (bool, error) {
	n, err := q.needs(s, index, records)
	return n.apart, err
}

// dense returns a zero matrix of rows × cols in the room that from gives.
func dense(from room.Allocator, rows, cols int) (*mat.Dense, error) {
	data, err := room.Of[float64](from, rows*cols)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(rows, cols, data), nil
}

// needs returns what a sketch needs for the analyses of the run.
func (r *run) needs(sk int) (needs, error) {
	asked := *r.Study
	asked.Analyses = r.Analyses
	quota := r.Memory
	if quota == 0 || r.Scratch == nil { // memory only
		quota = math.MaxInt64
	}
	return Quotas{Memory: quota}.needs(&asked, sk, r.records())
}

// work returns how many bytes passes over the records of a sketch may use; 0: no limit.
func (r *run) work(sk int) int64 {
	if n, err := r.needs(sk); err == nil && n.apart {
		return Quotas{Memory: r.Memory}.work()
	}
	return 0
}

// Check returns an error if the study exceeds the quotas when every party has as many records as
// the study file states.
func (q Quotas) Check(s *study.Study) error {
	records := stated(s)
	return q.each(s, records, func(what string, quota int64, n need) error {
		if takes := n.of(records); takes > quota {
			return &QuotaError{Of: keptOf(s, what), What: what, Needs: takes, Quota: quota}
		}
		return nil
	})
}

// Admit returns an error if a release has more records than the party's share of the quotas. A
// share is the room for the records that the study file states, and an equal part of what is left.
// So no party can use another's room, whoever comes first.
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

// Shares returns how many records each party may release under the quotas; nil if the number of
// records makes no difference.
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

// share returns a party's part of room for so many records.
func share(s *study.Study, party int, room int64) int64 {
	own, all := s.Parties[party].Records, stated(s)
	if all > room { // the study was created under another quota
		return int64(float64(room) * (float64(own) / float64(all)))
	}
	return own + (room-all)/int64(len(s.Parties))
}

// anyRecords stands for as many records as fit on the disk.
const anyRecords = -1

// onDisk returns how many records fit on the disk if none are gathered there. With so many,
// everything that can be on the disk is.
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

// sealed returns the size of the texts that the parties seal to each other and the aggregator
// stores beside the board: in each attempt one per pair of parties.
func sealed(s *study.Study) int64 {
	if !s.Apart() {
		return 0
	}
	n := len(s.Parties)
	return times(int64(n)*int64(n), int64(agree.TextSize(n))*int64(s.Attempts))
}

// keptOf names what uses the bytes of a study.
func keptOf(s *study.Study, what string) string {
	if what == onDisk && s.Apart() {
		return fmt.Sprintf("the study's releases, and what %d parties seal to each other in %d attempts,", len(s.Parties), s.Attempts)
	}
	return "the study's releases"
}

// AdmitSealed returns an error if the texts that come with all parties' shares do not fit on the
// disk.
func (q Quotas) AdmitSealed(s *study.Study) error {
	if takes := sealed(s); takes > q.Disk {
		return &QuotaError{Of: keptOf(s, onDisk), What: onDisk, Needs: takes, Quota: q.Disk}
	}
	return nil
}

// each checks needs against quotas: memory for each sketch, since they are analysed one after the
// other, and disk for all together.
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
		if err == nil && open && n.memory.fixed > q.Memory { // too little memory to gather any on the disk
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

// plus and times saturate at the largest number.
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
