package held

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

var errCrash = errors.New("crash")

// faulty is a Files whose n-th durable write fails: either not persisted, or persisted but not
// acknowledged. After it nothing more is written, as after a crash.
type faulty struct {
	Files
	n         int // writes until the fault; negative after it
	persisted bool
}

// write performs one durable write, or fails.
func (f *faulty) write(do func() error) error {
	f.n--
	switch {
	case f.n < 0:
		return errCrash
	case f.n == 0 && f.persisted:
		return errors.Join(do(), errCrash)
	case f.n == 0:
		return errCrash
	}
	return do()
}

func (f *faulty) Create(name string) (io.WriteCloser, error) {
	w, err := f.Files.Create(name)
	return faultyFile{w, f}, err
}

func (f *faulty) Commit(manifest []byte, files []string) error {
	return f.write(func() error { return f.Files.Commit(manifest, files) })
}

func (f *faulty) Discard(files []string) error {
	return f.write(func() error { return f.Files.Discard(files) })
}

type faultyFile struct {
	io.WriteCloser
	f *faulty
}

func (w faultyFile) Close() error {
	if err := w.f.write(w.WriteCloser.Close); err != nil {
		return errors.Join(err, w.WriteCloser.Close())
	}
	return nil
}

// Whichever durable write of a change a crash hits, the Set is afterwards in the old state or the
// new one, and the change can be repeated.
func TestCrashesLeaveOldOrNew(t *testing.T) {
	changes := map[string]func(*world, *Set) error{
		"first update": func(w *world, s *Set) error { _, err := s.Update(ctx); return err },
		"late shard":   func(w *world, s *Set) error { _, err := s.Update(ctx); return err },
		"withdrawal": func(w *world, s *Set) error {
			_, err := s.Withdraw(ctx, w.withdrawal(w.shards["a.csv"][2:5]))
			return err
		},
		"rebuild": func(w *world, s *Set) error { _, err := s.Rebuild(ctx); return err },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, persisted := range []bool{false, true} {
				for n, done := 1, false; !done; n++ {
					if n > 100 {
						t.Fatal("the change never ends")
					}
					done = crash(t, name, change, n, persisted)
				}
			}
		})
	}
}

// crash makes a change whose n-th write fails. It reports whether the change has fewer writes.
func crash(t *testing.T, name string, change func(*world, *Set) error, n int, persisted bool) (done bool) {
	t.Helper()
	w := newWorld(t, "both sides, horizontal, clipped", 3)
	w.put("a.csv", w.records(8))
	var before Exact
	if name != "first update" {
		_, err := w.open().Update(ctx)
		must(t, err)
		before, err = w.open().Exact()
		must(t, err)
	}
	switch name {
	case "late shard":
		w.put("b.csv", w.records(5))
	case "withdrawal":
		for _, r := range w.shards["a.csv"][2:5] {
			w.gone[r.id] = true
		}
	case "rebuild":
		w.put("a.csv", append(w.records(3), w.shards["a.csv"][1:]...))
	}
	after := w.atOnce(w.left())
	s, err := Open(w.options(&faulty{Files: w.files(), n: n, persisted: persisted}, w.dir))
	must(t, err)
	err = change(w, s)
	if err == nil {
		w.verify("no crash")
		return true
	}
	if !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	when := fmt.Sprintf("%s, write %d, persisted %v", name, n, persisted)
	now, err := w.open().Exact()
	switch {
	case errors.Is(err, ErrEmpty) && name == "first update":
	case err != nil:
		t.Fatalf("%s: %v", when, err)
	case same(now, after) == nil: // committed, though not acknowledged
		if !persisted {
			t.Errorf("%s: the change is there", when)
		}
		w.verify(when)
		if name == "withdrawal" {
			return false // must not be repeated
		}
	case same(now, before) != nil:
		t.Fatalf("%s: neither the old state nor the new one", when)
	}
	must(t, change(w, w.open()))
	w.verify(when + ", again")
	return false
}
