package runs

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The order is the same whether everything fits in memory, runs are spilled, or so many that
// merging takes several passes.
func TestSorterSpills(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var want []Entry
	sorters := []*Sorter{NewSorter(t.TempDir()), NewSorter(t.TempDir()), NewSorter(t.TempDir())}
	sorters[1].limit = 7
	sorters[2].limit, sorters[2].fan = 7, 3
	for i := range 500 {
		var e Entry
		e.ID[0], e.ID[15], e.Value[3], e.Shard, e.Line = byte(rng.IntN(256)), byte(rng.IntN(256)), byte(i), uint32(rng.IntN(3)), int64(i)
		want = append(want, e)
		for _, s := range sorters {
			must(t, s.Add(e))
		}
	}
	slices.SortFunc(want, Compare)
	for n, s := range sorters {
		if got := len(s.ends); got != []int{0, 71, 71}[n] {
			t.Errorf("sorter %d: %d runs", n, got)
		}
		all, err := s.Sorted()
		must(t, err)
		for i := range want {
			if e, err := all.Next(); err != nil || e != want[i] {
				t.Fatalf("sorter %d, entry %d: %v, %v; want %v", n, i, e, err, want[i])
			}
		}
		if _, err := all.Next(); err != io.EOF {
			t.Errorf("sorter %d: after the last entry: %v", n, err)
		}
		must(t, s.Close())
		if s.passes != []int{0, 0, 3}[n] { // 71 runs by threes: 24, 8, 3
			t.Errorf("sorter %d: %d passes before the last", n, s.passes)
		}
	}
}

// Many entries are sorted like few, whatever their ids: uniform, all on one shelf, or all equal.
func TestManyAreSorted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, ids := range map[string]func(*Digest){
		"uniform":  func(id *Digest) { binary.BigEndian.PutUint64(id[:], random.Uint64()) },
		"repeated": func(id *Digest) { binary.BigEndian.PutUint64(id[:], random.Uint64()<<50) },
		"a shelf":  func(id *Digest) { binary.BigEndian.PutUint32(id[12:], random.Uint32()) },
		"one":      func(*Digest) {},
	} {
		for _, workers := range []int{0, 1, 3} {
			got := make([]Entry, 5*shelves+random.IntN(shelves))
			for i := range got {
				ids(&got[i].ID)
				got[i].Shard, got[i].Line = random.Uint32N(3), int64(random.IntN(1<<40))
			}
			want := slices.Clone(got)
			slices.SortFunc(want, Compare)
			if Sort(got, workers); !slices.Equal(got, want) {
				t.Errorf("%s: %d entries are not in order, by %d workers", name, len(got), workers)
			}
		}
	}
}

// BenchmarkSort sorts a run.
func BenchmarkSort(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	from := make([]Entry, RunEntries)
	for i := range from {
		binary.BigEndian.PutUint64(from[i].ID[:], random.Uint64())
	}
	entries := make([]Entry, RunEntries)
	for name, sort := range map[string]func([]Entry){
		"compare": func(e []Entry) { slices.SortFunc(e, Compare) },
		"shelves": func(e []Entry) { Sort(e, 1) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				copy(entries, from)
				sort(entries)
			}
		})
	}
}

// A run passed to AddRun must be sorted.
func TestRunsAreInOrder(t *testing.T) {
	s := NewSorter(t.TempDir())
	defer s.Close()
	must(t, s.AddRun(&sortedRun{[]Entry{{Line: 1}, {Line: 2}}}))
	if err := s.AddRun(&sortedRun{[]Entry{{Line: 2}, {Line: 1}}}); !errors.Is(err, ErrOrder) {
		t.Errorf("a run out of order: %v", err)
	}
}

// Entries survive encoding and decoding.
func TestEntriesAreWritten(t *testing.T) {
	e := Entry{Digest{1, 15: 2}, Digest{3, 15: 4}, 1 << 31, 1 << 40}
	if got := Decode([EntryBytes]byte(e.Append(nil))); got != e {
		t.Errorf("%v was written and is %v", e, got)
	}
}
