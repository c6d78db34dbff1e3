package held

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// entry is one record of the index. Line is where it is in its file, 0 where that is
// not known any more.
type entry struct {
	id, value digest
	shard     uint32
	line      int64
}

// compare orders entries by id; those of one id by where they are.
func compare(a, b entry) int {
	return cmp.Or(bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.shard, b.shard), cmp.Compare(a.line, b.line))
}

// source yields entries in order. It ends with io.EOF.
type source interface{ next() (entry, error) }

// sorter sorts any number of entries in bounded memory: what is held is sorted and
// spilled as a run when there is too much of it, and the runs are merged at the end.
type sorter struct {
	dir   string
	limit int // of held
	held  []entry
	file  *os.File // or nil
	ends  []int64  // where each run ends in the file
}

// heldEntries is how many entries are sorted in memory, 24 MiB of them.
const heldEntries = 1 << 19

// spilledBytes is the size of an entry in a run.
const spilledBytes = 16 + 16 + 4 + 8

func newSorter(dir string) *sorter { return &sorter{dir: dir, limit: heldEntries} }

func (s *sorter) add(e entry) error {
	s.held = append(s.held, e)
	if len(s.held) < s.limit {
		return nil
	}
	if err := s.spill(); err != nil {
		return fmt.Errorf("sorting records: %w (they need %d bytes for each record, in %s)", err, spilledBytes, s.dir)
	}
	return nil
}

func (s *sorter) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "held-*.spill") // mode 0600
		if err != nil {
			return err
		}
		s.file = f
		// Where an open file can be removed, a crash leaves nothing. Elsewhere Close
		// removes it.
		os.Remove(f.Name())
	}
	slices.SortFunc(s.held, compare)
	w := bufio.NewWriterSize(s.file, 256<<10)
	var b [spilledBytes]byte
	for _, e := range s.held {
		copy(b[:], e.id[:])
		copy(b[16:], e.value[:])
		binary.LittleEndian.PutUint32(b[32:], e.shard)
		binary.LittleEndian.PutUint64(b[36:], uint64(e.line))
		if _, err := w.Write(b[:]); err != nil {
			return err
		}
	}
	end := int64(len(s.held)) * spilledBytes
	if len(s.ends) > 0 {
		end += s.ends[len(s.ends)-1]
	}
	s.ends = append(s.ends, end)
	s.held = s.held[:0]
	return w.Flush()
}

// sorted ends the adding.
func (s *sorter) sorted() (source, error) {
	slices.SortFunc(s.held, compare)
	m := &merge{}
	runs := []source{&sortedRun{s.held}}
	var start int64
	for _, end := range s.ends {
		runs = append(runs, &spilledRun{bufio.NewReaderSize(io.NewSectionReader(s.file, start, end-start), 64<<10)})
		start = end
	}
	for _, run := range runs {
		if err := m.push(run); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Close removes the runs.
func (s *sorter) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if remove := os.Remove(s.file.Name()); !errors.Is(remove, os.ErrNotExist) {
		err = errors.Join(err, remove)
	}
	return err
}

type sortedRun struct{ rest []entry }

func (r *sortedRun) next() (entry, error) {
	if len(r.rest) == 0 {
		return entry{}, io.EOF
	}
	e := r.rest[0]
	r.rest = r.rest[1:]
	return e, nil
}

type spilledRun struct{ r *bufio.Reader }

func (r *spilledRun) next() (entry, error) {
	var b [spilledBytes]byte
	if _, err := io.ReadFull(r.r, b[:]); err != nil {
		return entry{}, err
	}
	return entry{digest(b[:16]), digest(b[16:32]), binary.LittleEndian.Uint32(b[32:]), int64(binary.LittleEndian.Uint64(b[36:]))}, nil
}

// merge yields the entries of sorted sources in order.
type merge struct{ heads []head }

// head is a source's next entry.
type head struct {
	entry entry
	from  source
}

func (m *merge) push(from source) error {
	e, err := from.next()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		heap.Push(m, head{e, from})
	}
	return err
}

func (m *merge) next() (entry, error) {
	if len(m.heads) == 0 {
		return entry{}, io.EOF
	}
	least := heap.Pop(m).(head)
	return least.entry, m.push(least.from)
}

// merge is a heap by the order of entries.
func (m *merge) Len() int           { return len(m.heads) }
func (m *merge) Less(i, j int) bool { return compare(m.heads[i].entry, m.heads[j].entry) < 0 }
func (m *merge) Swap(i, j int)      { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

func (m *merge) Push(h any) { m.heads = append(m.heads, h.(head)) }

// Pop takes the last head off.
func (m *merge) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}
