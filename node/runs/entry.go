package runs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// Entry is one record. Line is where it is in its file, 0 where that is not known any more.
type Entry struct {
	ID, Value Digest
	Shard     uint32
	Line      int64
}

// Compare orders entries by id; those of one id by where they are.
func Compare(a, b Entry) int {
	if a, b := binary.BigEndian.Uint64(a.ID[:]), binary.BigEndian.Uint64(b.ID[:]); a != b { // as almost always
		return cmp.Compare(a, b)
	}
	return cmp.Or(bytes.Compare(a.ID[8:], b.ID[8:]), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Line, b.Line))
}

// shelfBits are the first bits of an id by which many entries are parted before they are sorted: digests are uniform, so
// that shelves are about equal.
const (
	shelfBits = 14
	shelves   = 1 << shelfBits
)

func (e *Entry) shelf() int { return int(binary.BigEndian.Uint16(e.ID[:]) >> (16 - shelfBits)) }

// Sort sorts entries in place, in so many goroutines.
func Sort(entries []Entry, workers int) {
	if len(entries) < 4*shelves {
		slices.SortFunc(entries, Compare)
		return
	}
	ends := shelve(entries)
	parallel.Share(shelves, workers, func(_, shelf int) {
		start := 0
		if shelf > 0 {
			start = ends[shelf-1]
		}
		slices.SortFunc(entries[start:ends[shelf]], Compare)
	})
}

// shelve brings entries into the order of their shelves, and returns where each ends.
func shelve(entries []Entry) []int {
	ends, next := make([]int, shelves), make([]int, shelves)
	for i := range entries {
		ends[entries[i].shelf()]++
	}
	for i := 1; i < shelves; i++ {
		next[i] = ends[i-1]
		ends[i] += ends[i-1]
	}
	for shelf := range shelves {
		for next[shelf] < ends[shelf] {
			e := &entries[next[shelf]]
			if at := e.shelf(); at != shelf { // each swap brings one to where it stays
				*e, entries[next[at]] = entries[next[at]], *e
				next[at]++
				continue
			}
			next[shelf]++
		}
	}
	return ends
}

// EntryBytes is the size of an entry in a run.
const EntryBytes = 16 + 16 + 4 + 8

// Append writes the entry.
func (e Entry) Append(b []byte) []byte {
	b = append(append(b, e.ID[:]...), e.Value[:]...)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, e.Shard), uint64(e.Line))
}

// Decode reads what Append wrote.
func Decode(b [EntryBytes]byte) Entry {
	return Entry{Digest(b[:16]), Digest(b[16:32]), binary.LittleEndian.Uint32(b[32:]), int64(binary.LittleEndian.Uint64(b[36:]))}
}

// Source yields entries in order. It ends with io.EOF.
type Source interface{ Next() (Entry, error) }
