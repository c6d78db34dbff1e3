package runs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
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

// Sort sorts entries.
func Sort(entries []Entry) { slices.SortFunc(entries, Compare) }

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
