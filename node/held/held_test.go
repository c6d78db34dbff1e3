package held

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

var ctx = context.Background()

// After any sequence of late shards, withdrawals and rebuilds the Set equals, to the bit, what
// projecting the remaining records in one pass gives.
func TestChangesAreProjectingTheRest(t *testing.T) {
	for cell := range cells {
		t.Run(cell, func(t *testing.T) {
			t.Parallel()
			worlds := uint64(8)
			if testing.Short() {
				worlds = 2
			}
			for n := range worlds {
				w := newWorld(t, cell, n)
				w.put("m.csv", w.records(1+w.rng.IntN(40)))
				_, err := w.open().Update(ctx)
				must(t, err)
				w.verify("first update")
				for step := range 10 {
					w.verify(fmt.Sprintf("world %d, step %d: %s", n, step, w.step()))
				}
			}
		})
	}
}

// step changes data and Set at random, and returns the kind of change.
func (w *world) step() string {
	w.t.Helper()
	switch kind := w.rng.IntN(4); kind {
	case 0, 1: // a late shard, sometimes with a row of a withdrawn person
		records := w.records(w.rng.IntN(30))
		for id := range w.gone {
			if w.rng.IntN(8) == 0 && !slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(w.shards))...), func(r record) bool { return r.id == id }) {
				records = append(records, record{id, "1.5", "a"})
			}
		}
		w.put(fmt.Sprintf("%c%d.csv", 'a'+w.rng.IntN(26), w.next), records)
		changes, err := w.open().Update(ctx)
		must(w.t, err)
		if !changes.Changed || len(changes.Added) != 1 {
			w.t.Fatalf("a late shard: %+v", changes)
		}
		return "shard"
	case 2:
		var leave []record
		for _, records := range w.left() {
			for _, r := range records {
				if w.rng.IntN(5) == 0 {
					leave = append(leave, r)
				}
			}
		}
		if len(leave) == 0 {
			return "nothing"
		}
		n, err := w.open().Withdraw(ctx, w.withdrawal(leave))
		must(w.t, err)
		if n != int64(len(leave)) {
			w.t.Fatalf("%d of %d records withdrawn", n, len(leave))
		}
		for _, r := range leave {
			w.gone[r.id] = true
		}
		return "withdrawal"
	default: // the data are edited, which only Rebuild accepts
		for _, name := range slices.Sorted(maps.Keys(w.shards)) {
			if w.rng.IntN(2) == 0 {
				records := append(slices.Clone(w.shards[name]), w.records(2)...)
				records[0].w = "b"
				w.put(name, records)
			}
		}
		_, err := w.open().Rebuild(ctx)
		must(w.t, err)
		return "rebuild"
	}
}

// Files that are held are only hashed again; a file under another name does not change the records.
func TestUpdateReadsOnlyWhatIsNew(t *testing.T) {
	w := newWorld(t, "both sides, horizontal, clipped", 1)
	w.put("a.csv", w.records(5))
	w.put("b.csv", w.records(5))
	_, err := w.open().Update(ctx)
	must(t, err)
	read := 0
	o := w.options(w.files(), w.dir)
	o.Observe = func(dataset.Summary) { read++ }
	s, err := Open(o)
	must(t, err)
	changes, err := s.Update(ctx)
	must(t, err)
	if changes.Changed || read > 0 {
		t.Errorf("nothing new, and %+v after %d batches", changes, read)
	}
	must(t, os.Rename(filepath.Join(w.dir, "a.csv"), filepath.Join(w.dir, "c.csv")))
	w.shards["c.csv"] = w.shards["a.csv"]
	delete(w.shards, "a.csv")
	changes, err = s.Update(ctx)
	must(t, err)
	if !changes.Changed || read > 0 {
		t.Errorf("renamed: %+v after %d batches", changes, read)
	}
	w.verify("renamed")
}

// All records can be withdrawn, and new ones added afterwards.
func TestEverybodyLeaves(t *testing.T) {
	for cell := range cells {
		w := newWorld(t, cell, 1)
		w.put("a.csv", w.records(9))
		_, err := w.open().Update(ctx)
		must(t, err)
		_, err = w.open().Withdraw(ctx, w.withdrawal(w.shards["a.csv"]))
		must(t, err)
		for _, r := range w.shards["a.csv"] {
			w.gone[r.id] = true
		}
		w.verify(cell + ": nobody is left")
		if s := w.open().Summary(); s.Records != 0 || s.Withdrawn != 9 || s.Shards[0].Withdrawn != 9 || slices.Max(s.Clipped) != 0 {
			t.Errorf("%s: %+v", cell, s)
		}
		w.put("b.csv", append(w.records(3), w.shards["a.csv"][0]))
		must(t, os.Remove(filepath.Join(w.dir, "a.csv")))
		delete(w.shards, "a.csv")
		_, err = w.open().Rebuild(ctx)
		must(t, err)
		w.verify(cell + ": others came")
	}
}

// What cannot be done is refused and changes nothing. The error names the place, but no id or
// value.
func TestRefusals(t *testing.T) {
	w := newWorld(t, "both sides, horizontal, clipped", 1)
	w.put("a.csv", w.records(6))
	w.put("b.csv", w.records(6))
	_, err := w.open().Withdraw(ctx, w.withdrawal(w.shards["a.csv"][:1]))
	if !errors.Is(err, ErrEmpty) {
		t.Errorf("withdrawing from nothing: %v", err)
	}
	_, err = w.open().Update(ctx)
	must(t, err)
	_, err = w.open().Withdraw(ctx, w.withdrawal(w.shards["a.csv"][:1]))
	must(t, err)
	w.gone[w.shards["a.csv"][0].id] = true
	before, err := w.files().Manifest()
	must(t, err)
	held, stranger := w.shards["a.csv"][1:3], record{"person-999", "1", "a"}
	changed := held[1]
	changed.w = map[string]string{"a": "b", "b": "a", "c": "a", "": "a"}[changed.w]
	withdraw := func(records ...record) func() error {
		return func() error { _, err := w.open().Withdraw(ctx, w.withdrawal(records)); return err }
	}
	with := func(name string, records []record) func() error {
		return func() error {
			path := filepath.Join(w.dir, name)
			write(t, path, records)
			_, err := w.open().Update(ctx)
			if records, was := w.shards[name]; was {
				write(t, path, records)
			} else {
				os.Remove(path)
			}
			return err
		}
	}
	reading := func(change func(*Options), do func(*Set) error) func() error {
		return func() error {
			o := w.options(w.files(), w.dir)
			change(&o)
			s, err := Open(o)
			if err != nil {
				return err
			}
			return do(s)
		}
	}
	exact := func(s *Set) error { _, err := s.Exact(); return err }
	rebuild := func(s *Set) error { _, err := s.Rebuild(ctx); return err }
	update := func(s *Set) error { _, err := s.Update(ctx); return err }
	for want, do := range map[string]func() error{
		"gone.csv:3: the record is not in the held sketch (":                                 withdraw(held[0], stranger, held[1]),
		"gone.csv:2: the record was withdrawn before (":                                      withdraw(w.shards["a.csv"][0], held[0]),
		"gone.csv:3: the record is in the held sketch with other values (":                   withdraw(held[0], changed),
		"gone.csv:2: the record is not in the held sketch; 1 more rows do not fit (":         withdraw(stranger, changed),
		"record id repeated: lines 2 and 3":                                                  withdraw(held[0], held[0]),
		"gone.csv: no records, only a header":                                                withdraw(),
		"c.csv:3: record id repeated: it is in " + filepath.Join(w.dir, "b.csv") + ", too (": with("c.csv", []record{stranger, w.shards["b.csv"][0]}),
		"b.csv has changed (party advanced sketch --rebuild":                                 with("b.csv", w.shards["b.csv"][1:]),
		"c.csv:2: column \"w\": not one of the column's values":                              with("c.csv", []record{{"person-1000", "1", "z"}}),
		"the held sketch is of dataset \"patients\", the site file now names \"other\"":      reading(func(o *Options) { o.Dataset = "other" }, exact),
		"by other columns, another dialect or other words":                                   reading(func(o *Options) { o.Schema.Fields[0].Header = "X" }, exact),
		"another dialect or other words than":                                                reading(func(o *Options) { o.Source.Words.Missing = []string{"NA"} }, exact),
		"by other id columns":                                                                reading(func(o *Options) { o.Schema.ID = []string{"ID"} }, rebuild),
		"it belongs to another study or another seed":                                        reading(func(o *Options) { o.T2 = protocol.Digest{} }, exact),
		"the limit": reading(func(o *Options) { o.Schema.MaxRecords = 12 }, func(s *Set) error {
			write(t, filepath.Join(w.dir, "c.csv"), w.records(2))
			defer os.Remove(filepath.Join(w.dir, "c.csv"))
			return update(s)
		}),
		"returns new results each time: it is unknown which of its records are held": reading(func(o *Options) { o.Source = dataset.Source{SQL: &dataset.SQL{Database: "x", Driver: dataset.SQLite}} }, update),
	} {
		err := do()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "person") {
			t.Errorf("got %v, want %q", err, want)
		}
		after, err := w.files().Manifest()
		must(t, err)
		if string(after) != string(before) {
			t.Fatalf("%q: the manifest changed", want)
		}
	}
	must(t, os.Remove(filepath.Join(w.dir, "b.csv")))
	var stale *StaleError
	if _, err := w.open().Update(ctx); !errors.As(err, &stale) || !strings.Contains(err.Error(), "b.csv is gone") {
		t.Errorf("a file that is gone: %v", err)
	}
	write(t, filepath.Join(w.dir, "b.csv"), w.shards["b.csv"])
	w.verify("after all refusals")
	if left, err := os.ReadDir(filepath.Join(w.store.Dir(), "held", w.study.ID.String())); err != nil || len(left) != len(w.open().m.names())+1 {
		t.Errorf("%d files are left of %d (%v)", len(left), len(w.open().m.names())+1, err)
	}
}

// A Set of columns-side sketches holds no id, and no manifest does.
func TestHoldsNoIDs(t *testing.T) {
	w := newWorld(t, "columns, vertical, clipped", 1)
	w.put("a.csv", w.records(6))
	_, err := w.open().Update(ctx)
	must(t, err)
	dir := filepath.Join(w.store.Dir(), "held", w.study.ID.String())
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		must(t, err)
		info, err := f.Info()
		must(t, err)
		if strings.Contains(string(text), "person") || info.Mode().Perm() != 0o600 {
			t.Errorf("%s holds an id, or its mode is %v", f.Name(), info.Mode())
		}
	}
	if len(files) < 4 {
		t.Errorf("only %d files", len(files))
	}
}

// A damaged file is noticed wherever it is used. While manifest and withdrawn ids are intact,
// everything can be read afresh.
func TestDamageIsNoticed(t *testing.T) {
	for _, name := range []string{"sum-0", "rows-1-0", "ids-0", "index", "withdrawn"} {
		w := newWorld(t, "both sides, horizontal, clipped", 1)
		w.put("a.csv", w.records(9))
		_, err := w.open().Update(ctx)
		must(t, err)
		_, err = w.open().Withdraw(ctx, w.withdrawal(w.shards["a.csv"][:2]))
		must(t, err)
		w.gone[w.shards["a.csv"][0].id], w.gone[w.shards["a.csv"][1].id] = true, true
		path := filepath.Join(w.store.Dir(), "held", w.study.ID.String(), name+".2")
		text, err := os.ReadFile(path)
		must(t, err)
		text[len(text)/2] ^= 1
		must(t, os.WriteFile(path, text, 0o600))
		_, err1 := w.open().Exact()
		_, err2 := w.open().Withdraw(ctx, w.withdrawal(w.shards["a.csv"][2:3]))
		var damaged *DamagedError
		if err := errors.Join(err1, err2); !errors.As(err, &damaged) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		_, err = w.open().Rebuild(ctx)
		if name == "withdrawn" {
			if err == nil {
				t.Error("withdrawn ids were forgotten")
			}
			continue
		}
		must(t, err)
		w.verify(name + " was damaged")
	}
}

var _ Files = store.Held(nil)
