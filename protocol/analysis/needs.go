package analysis

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Quotas bound what one study may take at its aggregator, in bytes.
type Quotas struct {
	Memory int64 // while its analyses run
	Disk   int64 // its releases
}

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
// Numbers of columns are merged as integers and computed from as reals. Records are read from
// the disk into one matrix, of which some analyses copy some.
func needs(s *study.Study, index int) (memory, disk need, err error) {
	var merged int64
	for party := range s.Parties {
		plan, err := release.For(s, party, index)
		if err != nil {
			return memory, disk, err
		}
		rows, cols := plan.Shape(1)
		beside := int64(0)
		for _, c := range plan.RowColumns() {
			beside += int64(c.Width)
		}
		if s.Sketches[index].Side == sketch.Records {
			disk.record = max(disk.record, 8*cols+beside)
			continue
		}
		size := times(8*rows, cols)
		disk.fixed = plus(disk.fixed, size)
		switch {
		case s.Sketches[index].Side != sketch.Columns: // every party's is held
			memory.fixed = plus(memory.fixed, 3*size)
		case s.Merge(index) == study.Add:
			merged = max(merged, size)
		default:
			merged = plus(merged, size)
		}
	}
	memory.fixed = plus(memory.fixed, times(2, merged))
	if s.Sketches[index].Side == sketch.Records {
		memory.record = 16*int64(s.Sketches[index].Projection.K) + recordBytes + neighborBytes*int64(mostNeighbors(s))
	}
	return memory, disk, nil
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

// Memory is about what the analyses of a sketch take, where the contributions have so many
// records together.
func Memory(s *study.Study, index int, records int64) (int64, error) {
	memory, _, err := needs(s, index)
	return memory.of(records), err
}

// Check refuses a study that takes more than the quotas if every party has as many records as the
// study file says.
func (q Quotas) Check(s *study.Study) error {
	var records int64
	for _, p := range s.Parties {
		records = plus(records, p.Records)
	}
	return q.each(s, func(what string, quota int64, n need) error {
		if takes := n.of(records); takes > quota {
			return &QuotaError{Of: "the study's releases", What: what, Needs: takes, Quota: quota}
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
			return &QuotaError{Of: "the study's releases", What: what, Needs: n.fixed, Quota: quota}
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
	var stated int64
	for _, p := range s.Parties {
		stated = plus(stated, p.Records)
	}
	own := s.Parties[party].Records
	if stated > room { // the study was made under another quota
		return int64(float64(room) * (float64(own) / float64(stated)))
	}
	return own + (room-stated)/int64(len(s.Parties))
}

// each holds quotas against needs: of memory each sketch's, as they are analysed one after the
// other, of disk all together.
func (q Quotas) each(s *study.Study, check func(what string, quota int64, n need) error) error {
	var together need
	for index := range s.Sketches {
		memory, disk, err := needs(s, index)
		if err != nil {
			return err
		}
		if err := check(onMemory, q.Memory, memory); err != nil {
			return err
		}
		together.fixed, together.record = plus(together.fixed, disk.fixed), plus(together.record, disk.record)
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
