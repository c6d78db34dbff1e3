package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/protocol/study"
)

// manyRecords returns a file of many chunks. One value in seven of its schema's field is missing.
func manyRecords(t testing.TB, n int) (string, Schema) {
	var text strings.Builder
	text.WriteString("id,note,x\n")
	for i := range n {
		x := fmt.Sprint(i % 256)
		if i%7 == 0 {
			x = ""
		}
		fmt.Fprintf(&text, "%d,\"%s\n\",%s\n", i, strings.Repeat("n", i%90), x)
	}
	return write(t, text.String()), Schema{
		ID: []string{"id"}, Bits: testBits, MaxRecords: 1 << 40, Missing: study.MissingSkip,
		Fields: []Field{{Name: "x", Kind: study.Numeric, Scale: bounds(t, 0, 256)}},
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	path, schema := manyRecords(t, 120_000)
	want, wantSummary, err := readAll(path, schema, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if kept := 120_000 - 120_000/7 - 1; len(want.IDs) != kept || wantSummary.Skipped != int64(120_000-kept) {
		t.Fatalf("%d records kept, %d left out", len(want.IDs), wantSummary.Skipped)
	}
	for _, workers := range []int{2, 3, 8} {
		got, summary, err := readAll(path, schema, Options{Workers: workers, BatchRecords: workers * 100})
		if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(summary, wantSummary) {
			t.Errorf("%d workers: %v, %+v", workers, err, summary)
		}
	}
}

// Of several errors, the first in the file is reported.
func TestFirstError(t *testing.T) {
	path, schema := manyRecords(t, 120_000)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	line := 2 + 2*120_000
	for i := range 5000 {
		fmt.Fprintf(f, "a%d,,bad\n", i)
	}
	f.Close()
	want := fmt.Sprintf("%s:%d: column \"x\": not a decimal number", path, line)
	for _, workers := range []int{1, 2, 8} {
		if _, _, err := readAll(path, schema, Options{Workers: workers}); err == nil || !strings.HasPrefix(err.Error(), "reading "+want) {
			t.Errorf("%d workers: got %v, want %s", workers, err, want)
		}
	}
}

// Whenever a Reader is closed, its goroutines have ended.
func TestNothingRunsOn(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	path, schema := manyRecords(t, 120_000)
	for batches := range 4 {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := Open(ctx, Files(path), schema, Options{Workers: 2, HeldIDs: 100, SpillDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for range batches {
			if _, err := r.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if batches == 3 { // the end of Open's context also ends the reading
			cancel()
			for err == nil {
				_, err = r.Next(context.Background())
			}
			if !errors.Is(err, context.Canceled) && err != io.EOF {
				t.Errorf("got %v", err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		cancel()
	}
}

// stumbling is an input that panics at a run of records, either while reading it or while parsing
// it.
type stumbling struct {
	input
	at      int // which run, from 0
	reading bool
	run     int
	closed  bool
	gap
}

func (s *stumbling) Close() error {
	s.closed = true
	return s.input.Close()
}

// gap makes a goroutine panic once may is closed.
type gap struct{ may, stumbled chan struct{} }

func (g gap) stumble() {
	<-g.may
	close(g.stumbled)
	panic("stumbled")
}

type stumblingRows struct {
	rows
	gap
}

func (s *stumbling) next(ctx context.Context, reuse rows) (rows, error) {
	if r, ok := reuse.(*stumblingRows); ok {
		reuse = r.rows
	}
	run := s.run
	s.run++
	if run == s.at && s.reading {
		s.stumble()
	}
	out, err := s.input.next(ctx, reuse)
	if run == s.at && err == nil {
		out = &stumblingRows{out, s.gap}
	}
	return out, err
}

func (r *stumblingRows) parse(*block) { r.stumble() }

// stumblingReader returns a Reader whose input panics.
func stumblingReader(t *testing.T, path string, schema Schema, o Options, at int, reading bool) (*Reader, *stumbling) {
	t.Helper()
	r, err := Open(t.Context(), Files(path), schema, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &stumbling{input: r.sequence.current, at: at, reading: reading, gap: gap{make(chan struct{}), make(chan struct{})}}
	r.sequence.current = s
	return r, s
}

// caught returns the panic of a call.
func caught(call func()) (v any) {
	defer func() { v = recover() }()
	call()
	return nil
}

// carriesTheStumble reports whether a panic is the input's, with its stack.
func carriesTheStumble(v any) bool {
	p, ok := v.(*parallel.Panic)
	return ok && p.Value == "stumbled" && strings.Contains(p.Stack, "dataset.(*stumbling")
}

// A panic of any goroutine reaches Next. Afterwards the Reader never reports success, and closes as
// usual.
func TestPanicsArriveAtNext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	path, schema := manyRecords(t, 60_000)
	for _, workers := range []int{1, 2, 8} {
		for _, at := range []int{0, 1, 2} {
			for _, reading := range []bool{false, true} {
				name := fmt.Sprintf("%d workers, run %d, reading: %v", workers, at, reading)
				r, s := stumblingReader(t, path, schema, Options{Workers: workers}, at, reading)
				close(s.may)
				v := caught(func() {
					for {
						if _, err := r.Next(t.Context()); err != nil {
							t.Errorf("%s: ended with %v", name, err)
							return
						}
					}
				})
				if !carriesTheStumble(v) {
					t.Errorf("%s: recovered %v", name, v)
				}
				if _, err := r.Next(t.Context()); !errors.Is(err, errBroken) || r.Summary().Complete {
					t.Errorf("%s: and then %v, %+v", name, err, r.Summary())
				}
				if err := r.Close(); err != nil {
					t.Errorf("%s: closing: %v", name, err)
				}
			}
		}
	}
}

// A panic that Next did not meet reaches Close, which has closed the input.
func TestPanicsArriveAtClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	path, schema := manyRecords(t, 60_000)
	for _, reading := range []bool{false, true} {
		r, s := stumblingReader(t, path, schema, Options{Workers: 2}, 2, reading)
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(s.may)
		<-s.stumbled
		if v := caught(func() { r.Close() }); !carriesTheStumble(v) {
			t.Errorf("reading %v: recovered %v", reading, v)
		}
		if !s.closed {
			t.Errorf("reading %v: the input is still open", reading)
		}
	}
}
