package runs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// Entry is one record. Line is its place in its file; 0 if that is no longer known.
type Entry struct {
	ID, Value Digest
	Shard     uint32
	Line      int64
}

// Compare orders entries by id; entries of one id by place.
func Compare(a, b Entry) int {
	if a, b := binary.BigEndian.Uint64(a.ID[:]), binary.BigEndian.Uint64(b.ID[:]); a != b { // the usual case
		return cmp.Compare(a, b)
	}
	return cmp.Or(bytes.Compare(a.ID[8:], b.ID[8:]), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Line, b.Line))
}

// shelfBits is how many leading bits of an id select a shelf, by which many entries are divided
// before sorting. Digests are uniform, so shelves have about equal sizes.
const (
	shelfBits = 14
	shelves   = 1 << shelfBits
)

func (e *Entry) shelf() int { return int(binary.BigEndian.Uint16(e.ID[:]) >> (16 - shelfBits)) }

// Sort sorts entries in place, with that many goroutines.
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

// shelve groups entries by shelf in place, and returns where each shelf ends.
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
			if at := e.shelf(); at != shelf { // each swap puts one entry into its final shelf
				*e, entries[next[at]] = entries[next[at]], *e
				next[at]++
				continue
			}
			next[shelf]++
		}
	}
	return ends
}

// EntryBytes is the encoded size of an entry.
const EntryBytes = 16 + 16 + 4 + 8

// Append appends the encoded entry.
func (e Entry) Append(b []byte) []byte {
	b = append(append(b, e.ID[:]...), e.Value[:]...)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, e.Shard), uint64(e.Line))
}

// Decode decodes what Append appended.
func Decode(b [EntryBytes]byte) Entry {
	return Entry{Digest(b[:16]), Digest(b[16:32]), binary.LittleEndian.Uint32(b[32:]), int64(binary.LittleEndian.Uint64(b[36:]))}
}

// Source yields sorted entries, then io.EOF.
type Source interface{ Next() (Entry, error) }
