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

	"github.com/cosketch/cosketch/protocol/study"
)

// manyRecords is a file of many chunks; the schema has a field that one value in
// seven is missing of.
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

// Of several errors, the first one in the file is reported.
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
		if batches == 3 { // the end of Open's context ends the reading, too
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
