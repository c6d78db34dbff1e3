package dataset

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
)

// ids finds repeated ids among any number of records in bounded memory. Sightings are held up to a
// limit, then sorted into shelves by the highest bits of their hash and appended to a file as one
// run. At the end, one shelf of all runs at a time is loaded and searched, since equal hashes are
// on the same shelf. The work is linear in the number of records. A shelf holds about one in 4096
// of all sightings: 6 MB for 10⁹ records.
type ids struct {
	dir   string
	limit int // most sightings in held
	held  []sighting
	spare []sighting // for sorting
	runs  []int64    // offset of each in the file
	file  *os.File   // or nil
	size  int64      // bytes written
	table []uint32
}

const (
	shelfBits = 12
	shelves   = 1 << shelfBits
	// sightingBytes is the size of a sighting in the file.
	sightingBytes = 24
	// readBytes is the total size of the buffers through which runs are read.
	readBytes = 32 << 20
)

func newIDs(dir string, limit int) *ids { return &ids{dir: dir, limit: limit} }

func (s sighting) bucket() uint64 { return s.id.hi >> (64 - shelfBits) }

// add records sightings. Each must have a later position than all before.
func (s *ids) add(more []sighting) error {
	for len(more) > 0 {
		n := min(len(more), s.limit-len(s.held))
		if len(s.held) > 0 { // a source with more than one block usually has many
			s.held = slices.Grow(s.held, s.limit-len(s.held))
		}
		s.held = append(s.held, more[:n]...)
		more = more[n:]
		if len(s.held) == s.limit {
			if err := s.spill(); err != nil {
				return fmt.Errorf("comparing record ids: %w (they need %d bytes for each record, in %s)", err, sightingBytes, s.place())
			}
		}
	}
	return nil
}

func (s *ids) place() string {
	if s.dir == "" {
		return os.TempDir()
	}
	return s.dir
}

// sort groups the held sightings by shelf, and keeps the order of positions within each shelf.
func (s *ids) sort() (counts [shelves]uint32) {
	for i := range s.held {
		counts[s.held[i].bucket()]++
	}
	var next [shelves]uint32
	for i := 1; i < shelves; i++ {
		next[i] = next[i-1] + counts[i-1]
	}
	s.spare = slices.Grow(s.spare[:0], len(s.held))[:len(s.held)]
	for i := range s.held {
		shelf := s.held[i].bucket()
		s.spare[next[shelf]] = s.held[i]
		next[shelf]++
	}
	s.held, s.spare = s.spare, s.held
	return counts
}

// spill appends the held sightings to the file as a run.
func (s *ids) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "ids-*.spill") // mode 0600
		if err != nil {
			return err
		}
		s.file = f
		// Where an open file can be removed, nothing is left after a crash. Elsewhere Close removes
		// it.
		os.Remove(f.Name())
	}
	counts := s.sort()
	w := bufio.NewWriterSize(s.file, 256<<10)
	rest := s.held
	var b []byte
	for _, n := range counts {
		b = binary.LittleEndian.AppendUint32(b[:0], n)
		for _, one := range rest[:n] {
			b = binary.LittleEndian.AppendUint64(b, one.id.hi)
			b = binary.LittleEndian.AppendUint64(b, one.id.lo)
			b = binary.LittleEndian.AppendUint64(b, uint64(one.at))
		}
		rest = rest[n:]
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, s.size)
	s.size += int64(len(s.held))*sightingBytes + 4*shelves
	s.held = s.held[:0]
	return w.Flush()
}

// Close removes the file.
func (s *ids) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if remove := os.Remove(s.file.Name()); !errors.Is(remove, os.ErrNotExist) {
		err = errors.Join(err, remove)
	}
	s.file = nil
	return err
}

// repeat is a repeated id: its first place, and a later one.
type repeat struct{ earlier, later position }

// repeats holds the first few repeats, sorted by their later place, and the number of all.
type repeats struct {
	first []repeat
	count int64
}

// shownRepeats is how many repeats one error lists.
const shownRepeats = 5

func (r *repeats) add(one repeat) {
	r.count++
	at, _ := slices.BinarySearchFunc(r.first, one, func(a, b repeat) int { return cmp.Compare(a.later, b.later) })
	if at < shownRepeats {
		r.first = slices.Insert(r.first, at, one)
		r.first = r.first[:min(len(r.first), shownRepeats)]
	}
}

// repeats compares all sightings. It must be called once only.
func (s *ids) repeats() (repeats, error) {
	var out repeats
	if s.file == nil {
		counts := s.sort()
		start := 0
		for _, n := range counts {
			s.search(s.held[start:start+int(n)], &out)
			start += int(n)
		}
		return out, nil
	}
	err := s.compareRuns(&out)
	if err != nil {
		err = fmt.Errorf("comparing record ids: %w", err)
	}
	return out, err
}

// compareRuns searches all runs, one shelf at a time.
func (s *ids) compareRuns(out *repeats) error {
	if len(s.held) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	buffer := max(4<<10, min(256<<10, readBytes/len(s.runs)))
	readers := make([]*bufio.Reader, len(s.runs))
	for i, start := range s.runs {
		readers[i] = bufio.NewReaderSize(io.NewSectionReader(s.file, start, s.size-start), buffer)
	}
	s.spare = nil
	for range shelves {
		s.held = s.held[:0]
		for _, r := range readers {
			if err := s.load(r); err != nil {
				return err
			}
		}
		s.search(s.held, out)
	}
	return nil
}

// load reads a run's next shelf and appends it to held.
func (s *ids) load(r *bufio.Reader) error {
	var b [sightingBytes]byte
	if _, err := io.ReadFull(r, b[:4]); err != nil {
		return err
	}
	for range binary.LittleEndian.Uint32(b[:]) {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return err
		}
		id := idHash{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
		s.held = append(s.held, sighting{id, position(binary.LittleEndian.Uint64(b[16:]))})
	}
	return nil
}

// search finds the repeats on one shelf, whose sightings are sorted by position. Its hash table is
// at most half full.
func (s *ids) search(shelf []sighting, out *repeats) {
	size := 1 << bits.Len(uint(2*len(shelf)))
	if cap(s.table) < size {
		s.table = make([]uint32, size)
	}
	table := s.table[:size]
	clear(table)
	mask := uint64(size - 1)
	for i := range shelf {
		one := &shelf[i]
		slot := one.id.lo & mask
		for table[slot] != 0 && shelf[table[slot]-1].id != one.id {
			slot = (slot + 1) & mask
		}
		if table[slot] == 0 {
			table[slot] = uint32(i + 1)
			continue
		}
		out.add(repeat{earlier: shelf[table[slot]-1].at, later: one.at})
	}
}
