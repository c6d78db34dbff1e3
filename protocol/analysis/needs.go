package analysis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

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
const DefaultMemory = 4 << 30

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

// Bytes that a record of a records-side sketch takes while it is analysed, beside its numbers:
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
	gathered     int64 // bytes of a record that are gathered on the disk, beside its release
	apart        bool
}

// needs are those of a sketch and of what the study asks of it. Numbers of columns are merged as
// integers and computed from as reals. Records are read from the disk into one matrix, of which
// some analyses copy some; where memory does not take so many records, that is on the disk as well.
func (q Quotas) needs(s *study.Study, index int, records int64) (out needs, err error) {
	var merged int64
	for party := range s.Parties {
		plan, err := release.For(s, party, index)
		if err != nil {
			return out, err
		}
		rows, cols := plan.Shape(1)
		beside := int64(0)
		for _, c := range plan.RowColumns() {
			beside += int64(c.Width)
		}
		if s.Sketches[index].Side == sketch.Records {
			out.disk.record = max(out.disk.record, 8*cols+beside)
			continue
		}
		size := times(8*rows, cols)
		out.disk.fixed = plus(out.disk.fixed, size)
		switch {
		case s.Sketches[index].Side != sketch.Columns: // every party's is held
			out.memory.fixed = plus(out.memory.fixed, 3*size)
		case s.Merge(index) == study.Add:
			merged = max(merged, size)
		default:
			merged = plus(merged, size)
		}
	}
	out.memory.fixed = plus(out.memory.fixed, times(2, merged))
	if s.Sketches[index].Side != sketch.Records {
		return out, nil
	}
	k := int64(s.Sketches[index].Projection.K)
	whole := need{record: 16*k + recordBytes + neighborBytes*int64(mostNeighbors(s))}
	if out.memory = whole; whole.of(records) <= q.Memory {
		return out, nil
	}
	apart := need{fixed: 2 * q.work()}
	var kept int64 // what analyses say of a record until the last has ended
	for _, a := range s.Analyses {
		if takes := kindOf(a.Kind).record; takes != nil {
			apart.record = max(apart.record, takes(a))
			kept += 16
		}
	}
	apart.record += max(kept-16, 0)
	joined := s.Merge(index) == study.Join
	if joined { // which record a row is of, and who has it
		apart.record += 8
	}
	if apart.of(records) >= whole.of(records) {
		return out, nil
	}
	out.apart, out.memory = true, apart
	out.gathered = 8 * k
	if joined { // pseudonyms, and copies of records that all have
		out.gathered += 8*k + int64(len(release.Pseudonym{}))
	}
	return out, nil
}

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

// Gathers is how many bytes of so many records of a sketch are gathered on the disk while they are analysed.
func (q Quotas) Gathers(s *study.Study, index int, records int64) (int64, error) {
	n, err := q.needs(s, index, records)
	return times(n.gathered, records), err
}

// Apart reports whether so many records of a sketch are gathered on the disk.
func (q Quotas) Apart(s *study.Study, index int, records int64) (bool, error) {
	n, err := q.needs(s, index, records)
	return n.apart, err
}

// dense returns room for a matrix of records: in memory, or on the disk.
func (r *run) dense(sk, rows, cols int) (*mat.Dense, error) {
	n, err := r.needs(sk)
	if err != nil {
		return nil, err
	}
	if !n.apart {
		return mat.NewDense(rows, cols, nil), nil
	}
	room, err := r.Scratch.Floats(rows * cols)
	if err != nil {
		return nil, &KeepError{err}
	}
	return mat.NewDense(rows, cols, room), nil
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
	return q.each(s, func(what string, quota int64, n need) error {
		if takes := n.of(records); takes > quota {
			return &QuotaError{Of: kept(s, what), What: what, Needs: takes, Quota: quota}
		}
		return nil
	})
}

// Admit refuses a release of more records than a party's share of the quotas allows: what its
// records take by the study file, and an equal part of what is left then. So no party takes
// another's room, whoever comes first.
func (q Quotas) Admit(s *study.Study, party int, records int64) error {
	return q.each(s, func(what string, quota int64, n need) error {
		if n.fixed > quota {
			return &QuotaError{Of: kept(s, what), What: what, Needs: n.fixed, Quota: quota}
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
	err = q.each(s, func(_ string, quota int64, n need) error {
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

// sealed is what the texts take that the parties of a study seal to each other, where they are kept beside the
// board: in each attempt as many as there are pairs.
func sealed(s *study.Study) int64 {
	if !s.Apart() {
		return 0
	}
	n := len(s.Parties)
	return times(int64(n)*int64(n), int64(agree.TextSize(n))*int64(s.Attempts))
}

// kept is what the bytes of a study are of.
func kept(s *study.Study, what string) string {
	if what == onDisk && s.Apart() {
		return fmt.Sprintf("the study's releases, and what %d parties seal to each other in %d attempts,", len(s.Parties), s.Attempts)
	}
	return "the study's releases"
}

// AdmitSealed refuses the texts beside a share where those of all shares do not fit.
func (q Quotas) AdmitSealed(s *study.Study) error {
	if takes := sealed(s); takes > q.Disk {
		return &QuotaError{Of: kept(s, onDisk), What: onDisk, Needs: takes, Quota: q.Disk}
	}
	return nil
}

// each holds quotas against needs: of memory each sketch's, as they are analysed one after the
// other, of disk all together.
func (q Quotas) each(s *study.Study, check func(what string, quota int64, n need) error) error {
	together := need{fixed: sealed(s)}
	for index := range s.Sketches {
		n, err := q.needs(s, index, stated(s))
		if err != nil {
			return err
		}
		if err := check(onMemory, q.Memory, n.memory); err != nil {
			return err
		}
		together.fixed, together.record = plus(together.fixed, n.disk.fixed), plus(together.record, n.disk.record+n.gathered)
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
