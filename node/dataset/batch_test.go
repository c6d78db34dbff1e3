package dataset

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// Batch.Lines gives each record's place even if records were left out, and ErrorAt can point there.
func TestBatchLines(t *testing.T) {
	schema := Schema{
		ID: []string{"id"}, Missing: study.MissingSkip, Bits: testBits, MaxRecords: 100,
		Fields: []Field{{Name: "x", Kind: study.Binary, Scale: bounds(t, 0, 1)}, {Name: "y", Kind: study.Binary, Scale: bounds(t, 0, 1)}},
	}
	path := write(t, "id,x,y\na,1,0\n\nb,,1\n\"c\nc\",0,1\nd,1,1\n")
	r, err := Open(context.Background(), Files(path), schema, Options{BatchRecords: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var lines, picked []int64
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, picked = append(lines, b.Lines...), b.Pick(picked, []int{1})
	}
	one := testBits.One()
	if !slices.Equal(lines, []int64{2, 5, 7}) || !slices.Equal(picked, []int64{0, one, one}) {
		t.Errorf("lines %v, picked %v", lines, picked)
	}
	if got := Files("x.csv").ErrorAt(7, "wrong", "mend it").Error(); got != "reading x.csv:7: wrong (mend it)" {
		t.Error(got)
	}
	if got := Files("x.parquet").ErrorAt(7, "wrong", "").Error(); got != "reading x.parquet: row 7: wrong" {
		t.Error(got)
	}
	if got := (Batch{}).Pick(nil, []int{0}); got != nil {
		t.Errorf("picked %v from nothing", got)
	}
}

// A header alone is an error unless AllowEmpty is set; then an empty source is complete.
func TestAllowEmpty(t *testing.T) {
	path := write(t, clinicHeader)
	for _, allow := range []bool{false, true} {
		r, err := Open(context.Background(), Files(path), clinic(t), Options{AllowEmpty: allow})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Next(context.Background())
		if (err == io.EOF) != allow || r.Summary().Complete != allow {
			t.Errorf("allowed %v: %v, complete %v", allow, err, r.Summary().Complete)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPaths(t *testing.T) {
	path := write(t, clinicHeader)
	got, err := Files(filepath.Join(filepath.Dir(path), "*.csv")).Paths()
	if err != nil || !slices.Equal(got, []string{path}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Files(filepath.Join(filepath.Dir(path), "*.parquet")).Paths(); err == nil {
		t.Error("a pattern that nothing matches")
	}
}

func TestHashFile(t *testing.T) {
	path := write(t, clinicHeader+"p1,,30,170,0,a\n")
	r, err := Open(context.Background(), Files(path), clinic(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for err == nil {
		_, err = r.Next(context.Background())
	}
	got, err := HashFile(context.Background(), path)
	if err != nil || got != r.Summary().Digest {
		t.Errorf("%s, %v; the reader says %s", got, err, r.Summary().Digest)
	}
	if _, err := HashFile(context.Background(), filepath.Dir(path)); err == nil {
		t.Error("a directory was hashed")
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := HashFile(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
