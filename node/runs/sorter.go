package runs

import (
	"bufio"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
)

// Sorter sorts any number of entries in bounded memory. When the entries held reach a limit, they
// are sorted and spilled as a run; in the end the runs are merged.
type Sorter struct {
	dir    string
	limit  int // most entries held
	fan    int // most runs merged at once
	held   []Entry
	file   *os.File // or nil
	ends   []int64  // end of each run in the file
	passes int      // merge passes before the last
}

// RunEntries is the number of entries in a run sorted in memory: 24 MiB.
const RunEntries = 1 << 19

// fanIn is how many runs are merged at once, with 64 KiB of buffer each.
const fanIn = 256

// NewSorter returns a Sorter that spills to dir, which nobody else may be able to read.
func NewSorter(dir string) *Sorter { return &Sorter{dir: dir, limit: RunEntries, fan: fanIn} }

// Add adds an entry.
func (s *Sorter) Add(e Entry) error {
	s.held = append(s.held, e)
	if len(s.held) < s.limit {
		return nil
	}
	return s.spill()
}

// spill writes the held entries as a run.
func (s *Sorter) spill() error {
	Sort(s.held, 1)
	err := s.AddRun(&sortedRun{s.held})
	s.held = s.held[:0]
	return err
}

// ErrOrder reports a run that is not sorted.
var ErrOrder = errors.New("a run of records is not in order")

// AddRun adds entries that are sorted already. An error of the source is returned unchanged.
func (s *Sorter) AddRun(run Source) error {
	if s.file == nil {
		var err error
		if s.file, err = s.create(); err != nil {
			return s.failed(err)
		}
	}
	n, err := s.copy(s.file, run)
	if err != nil {
		return err
	}
	if len(s.ends) > 0 {
		n += s.ends[len(s.ends)-1]
	}
	s.ends = append(s.ends, n)
	return nil
}

func (s *Sorter) failed(err error) error {
	return fmt.Errorf("sorting records: %w (they need %d bytes for each record, in %s)", err, EntryBytes, s.dir)
}

func (s *Sorter) create() (*os.File, error) {
	f, err := os.CreateTemp(s.dir, "held-*.spill") // mode 0600
	if err == nil {
		// Where an open file can be removed, nothing is left after a crash. Elsewhere Close removes
		// it.
		os.Remove(f.Name())
	}
	return f, err
}

// copy writes a run and returns its size.
func (s *Sorter) copy(to *os.File, run Source) (size int64, err error) {
	w := bufio.NewWriterSize(to, 256<<10)
	var b []byte
	var last Entry
	for {
		e, err := run.Next()
		if err == io.EOF {
			break
		}
		if err == nil && size > 0 && Compare(last, e) > 0 {
			err = ErrOrder
		}
		if err != nil {
			return size, err
		}
		b, last = e.Append(b[:0]), e
		if _, err := w.Write(b); err != nil {
			return size, s.failed(err)
		}
		size += EntryBytes
	}
	if err := w.Flush(); err != nil {
		return size, s.failed(err)
	}
	return size, nil
}

// Sorted returns all entries in order. Nothing must be added afterwards.
func (s *Sorter) Sorted() (Source, error) {
	Sort(s.held, 1)
	for len(s.ends) > s.fan {
		if err := s.mergePass(); err != nil {
			return nil, err
		}
	}
	return merged(append(s.spilled(0, len(s.ends)), &sortedRun{s.held}))
}

// mergePass merges groups of at most fan runs into another file.
func (s *Sorter) mergePass() (err error) {
	s.passes++
	into, err := s.create()
	if err != nil {
		return s.failed(err)
	}
	var ends []int64
	var end int64
	for from := 0; from < len(s.ends); from += s.fan {
		run, err := merged(s.spilled(from, min(from+s.fan, len(s.ends))))
		if err == nil {
			var n int64
			n, err = s.copy(into, run)
			end += n
		}
		if err != nil {
			return errors.Join(err, remove(into))
		}
		ends = append(ends, end)
	}
	err = remove(s.file)
	s.file, s.ends = into, ends
	return err
}

// spilled returns some of the runs in the file.
func (s *Sorter) spilled(from, to int) (out []Source) {
	for i := from; i < to; i++ {
		var start int64
		if i > 0 {
			start = s.ends[i-1]
		}
		out = append(out, &spilledRun{bufio.NewReaderSize(io.NewSectionReader(s.file, start, s.ends[i]-start), 64<<10)})
	}
	return out
}

// Close removes the runs.
func (s *Sorter) Close() error {
	if s.file == nil {
		return nil
	}
	return remove(s.file)
}

// remove closes a file, and removes it if that was not possible while it was open.
func remove(f *os.File) error {
	err := f.Close()
	if remove := os.Remove(f.Name()); !errors.Is(remove, os.ErrNotExist) {
		err = errors.Join(err, remove)
	}
	return err
}

type sortedRun struct{ rest []Entry }

func (r *sortedRun) Next() (Entry, error) {
	if len(r.rest) == 0 {
		return Entry{}, io.EOF
	}
	e := r.rest[0]
	r.rest = r.rest[1:]
	return e, nil
}

type spilledRun struct{ r *bufio.Reader }

func (r *spilledRun) Next() (Entry, error) {
	var b [EntryBytes]byte
	if _, err := io.ReadFull(r.r, b[:]); err != nil {
		return Entry{}, err
	}
	return Decode(b), nil
}

// merge yields the entries of several sorted sources in order.
type merge struct{ heads []head }

// head is a source's next entry.
type head struct {
	entry Entry
	from  Source
}

func merged(from []Source) (Source, error) {
	m := &merge{}
	for _, one := range from {
		if err := m.push(one); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *merge) push(from Source) error {
	e, err := from.Next()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		heap.Push(m, head{e, from})
	}
	return err
}

// Next returns the least remaining entry.
func (m *merge) Next() (Entry, error) {
	if len(m.heads) == 0 {
		return Entry{}, io.EOF
	}
	least := heap.Pop(m).(head)
	return least.entry, m.push(least.from)
}

// merge implements heap.Interface, ordered by entry.
func (m *merge) Len() int           { return len(m.heads) }
func (m *merge) Less(i, j int) bool { return Compare(m.heads[i].entry, m.heads[j].entry) < 0 }
func (m *merge) Swap(i, j int)      { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

func (m *merge) Push(h any) { m.heads = append(m.heads, h.(head)) }

// Pop removes the last head.
func (m *merge) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}
