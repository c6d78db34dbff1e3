package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is held or spilled, the repeats are those that a map finds.
func TestRepeats(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		seen := rapid.SliceOfN(rapid.IntRange(0, 60), 0, 100).Draw(rt, "seen")
		s := newIDs(dir, rapid.IntRange(1, 110).Draw(rt, "held"))
		defer s.Close()
		first := map[int]position{}
		var all []repeat
		var batch []sighting
		for i, id := range seen {
			where := at(i/40, int64(i%40+1))
			// Few shelves and slots, so that different ids collide.
			batch = append(batch, sighting{idHash{uint64(id%3) << 60, uint64(id)}, where})
			if earlier, again := first[id]; again {
				all = append(all, repeat{earlier, where})
			} else {
				first[id] = where
			}
			if i%11 == 0 || i == len(seen)-1 {
				if err := s.add(batch); err != nil {
					rt.Fatal(err)
				}
				batch = batch[:0]
			}
		}
		got, err := s.repeats()
		slices.SortFunc(all, func(a, b repeat) int { return cmp.Compare(a.later, b.later) })
		want := repeats{first: all[:min(len(all), shownRepeats)], count: int64(len(all))}
		if err != nil || got.count != want.count || len(got.first) != len(want.first) || len(want.first) > 0 && !reflect.DeepEqual(got, want) {
			rt.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
	})
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestSpilledFile(t *testing.T) {
	path, schema := manyRecords(t, 20_000)
	dir := t.TempDir()
	if _, _, err := readAll(path, schema, Options{HeldIDs: 1000, SpillDir: dir}); err != nil {
		t.Error(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("20000,,\n19999,,1\n7,,1\n")
	f.Close()
	_, _, err = readAll(path, schema, Options{HeldIDs: 1000, SpillDir: dir})
	want := fmt.Sprintf("%s:%d: record id repeated: lines %d and %d, %d and %d (", path, 40003, 40000, 40003, 16, 40004)
	if err == nil || !strings.HasPrefix(err.Error(), "reading "+want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	_, _, err = readAll(path, schema, Options{HeldIDs: 1000, SpillDir: dir + "/none"})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "24 bytes for each record, in "+dir+"/none") {
		t.Errorf("no directory: %v", err)
	}
}

func TestPosition(t *testing.T) {
	for _, p := range []struct {
		file int
		line int64
	}{{0, 1}, {0, 1<<40 - 1}, {maxFiles - 1, 12}} {
		if got := at(p.file, p.line); got.file() != p.file || got.line() != p.line {
			t.Errorf("%+v became %d, %d", p, got.file(), got.line())
		}
	}
}

func BenchmarkIDs(b *testing.B) {
	const records = 1 << 20
	batch := make([]sighting, 4096)
	for b.Loop() {
		s := newIDs(b.TempDir(), 1<<19)
		for i := range records / len(batch) {
			for j := range batch {
				n := uint64(i*len(batch) + j + 1)
				batch[j] = sighting{idHash{n * 0x9e3779b97f4a7c15, n * 0xbf58476d1ce4e5b9}, position(n)}
			}
			if err := s.add(batch); err != nil {
				b.Fatal(err)
			}
		}
		if r, err := s.repeats(); err != nil || r.count > 0 {
			b.Fatal(r, err)
		}
		s.Close()
	}
	b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
