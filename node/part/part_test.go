package part

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"

	"crypto/hpke"
)

// columns is the number of columns of the lake.
const columns = 10

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lake returns a study of ten columns, a job for it, and how its rows are read.
func lake(t testing.TB) MakeOptions {
	t.Helper()
	example, err := os.ReadFile("../../protocol/study/testdata/registry.yaml")
	must(t, err)
	head, _, _ := strings.Cut(string(example), "partition:")
	var list strings.Builder
	for i := range columns {
		fmt.Fprintf(&list, "  - {name: c%d, kind: numeric, bounds: [-1, 1]}\n", i)
	}
	source := head + "expires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\nrecords: {id: [id], missing: centre}\nbits: 8\npartition: horizontal\ncolumns:\n" + list.String() +
		"sketches: [{side: moments, clip: 2}]\nprivacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}\nanalyses: [{kind: mean}, {kind: correlation}]\n"
	s, err := file.Parse([]byte(source))
	must(t, err)
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(make([]byte, 32))
	must(t, err)
	digests, err := runs.NewKey(bytes.NewReader(make([]byte, 64)))
	must(t, err)
	plan, err := release.For(s, 0, 0)
	must(t, err)
	m := MakeOptions{
		Job:   &Job{Study: s, Source: []byte(source), Party: s.Parties[0].ID, Entry: Entry{Dataset: "lake", Where: "far"}, Digests: digests, To: key.PublicKey().Bytes()},
		Shard: Shard{1, 1}, Pass: Pass{Plans: []release.Plan{plan}}, Picks: [][]int{nil}, SpillDir: t.TempDir(),
		Schema: dataset.Schema{ID: []string{"id"}, Missing: study.MissingCentre, Bits: s.ReadBits(), MaxRecords: 1 << 40},
	}
	for i, c := range s.Columns {
		m.Schema.Fields = append(m.Schema.Fields, dataset.Field{Name: c.Name, Header: c.Name, Kind: c.Kind, Scale: c.Scale})
		m.Picks[0] = append(m.Picks[0], i)
	}
	return m
}

// row is a record of the lake.
type row struct {
	ID string  `parquet:"id"`
	C0 float64 `parquet:"c0"`
	C1 float64 `parquet:"c1"`
	C2 float64 `parquet:"c2"`
	C3 float64 `parquet:"c3"`
	C4 float64 `parquet:"c4"`
	C5 float64 `parquet:"c5"`
	C6 float64 `parquet:"c6"`
	C7 float64 `parquet:"c7"`
	C8 float64 `parquet:"c8"`
	C9 float64 `parquet:"c9"`
}

// shard writes a Parquet file with that many records.
func shard(t testing.TB, records int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shard.parquet")
	f, err := os.Create(path)
	must(t, err)
	w := parquet.NewGenericWriter[row](f, parquet.Compression(&parquet.Snappy))
	value := func(i, j int) float64 { return float64((i*7919+j*104729)%2000003)/1000001 - 1 }
	for i := range records {
		_, err := w.Write([]row{{fmt.Sprintf("P%012d", i*7919), value(i, 0), value(i, 1), value(i, 2), value(i, 3), value(i, 4), value(i, 5), value(i, 6), value(i, 7), value(i, 8), value(i, 9)}})
		must(t, err)
	}
	must(t, w.Close())
	must(t, f.Close())
	return path
}

// Many runs are written and read back unchanged, and memory does not grow with the number of
// records.
func TestPartsHaveRuns(t *testing.T) {
	const records = 5000
	m := lake(t)
	m.Source, m.held = dataset.Files(shard(t, records)), 300
	var out bytes.Buffer
	made, err := Make(t.Context(), &out, m)
	must(t, err)
	if made.Records != records || made.Runs != (records+299)/300 {
		t.Errorf("%d records in %d runs", made.Records, made.Runs)
	}
	path := filepath.Join(t.TempDir(), "1.part")
	must(t, os.WriteFile(path, out.Bytes(), 0o600))
	f, err := Look(path)
	must(t, err)
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(make([]byte, 32))
	must(t, err)
	entries, sums := 0, 0
	read, _, err := f.Read(m.Job, key, m.Pass, Sink{
		Run: func(from runs.Source) error {
			var last runs.Entry
			for {
				e, err := from.Next()
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
				if runs.Compare(last, e) > 0 {
					t.Error("a run is not in order")
				}
				last, entries = e, entries+1
			}
		},
		Sum: func(int, sketch.Sketch) error { sums++; return nil },
	})
	must(t, err)
	if entries != records || sums != 1 || read.Records != records {
		t.Errorf("%d entries and %d sums of %d records", entries, sums, read.Records)
	}
	if _, _, err := f.Read(m.Job, key, m.Pass, Sink{Run: func(runs.Source) error { return errors.New("the disk is full") }}); err == nil || errors.Is(err, fail.PartDamaged) {
		t.Errorf("an error of who takes it: %v", err)
	}
}

// A job that was edited or truncated, or whose study this program understands differently, is
// refused.
func TestJobsThatAreNone(t *testing.T) {
	whole := lake(t).Job.Encode()
	if _, err := DecodeJob(whole); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing":         nil,
		"a study":         lake(t).Job.Source,
		"cut off":         whole[:len(whole)-20],
		"a field more":    bytes.Replace(whole, []byte(`"study"`), []byte(`"more": 1, "study"`), 1),
		"another dataset": bytes.Replace(whole, []byte(`"digests": "0`), []byte(`"digests": "x`), 1),
		"another study":   bytes.Replace(whole, []byte(`bits: 8`), []byte(`bits: 9`), 1),
		"another party":   bytes.Replace(whole, []byte(`"party": "12D3`), []byte(`"party": "12D4`), 1),
	} {
		if bytes.Equal(data, whole) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := DecodeJob(data); !errors.Is(err, fail.BadJob) {
			t.Errorf("%s: %v", name, err)
		}
	}
	meaning := lake(t).Job.Study.Meaning.String()
	other := bytes.Replace(whole, []byte(meaning), []byte(strings.Repeat("0", len(meaning))), 1)
	var disagreement *protocol.Disagreement
	if _, err := DecodeJob(other); !errors.As(err, &disagreement) {
		t.Errorf("another meaning: %v", err)
	}
	if _, err := ReadJob(filepath.Join(t.TempDir(), "none.job")); fail.Find(err).Exit != fail.Usage {
		t.Errorf("a job that is not there: %v", err)
	}
	path := filepath.Join(t.TempDir(), "open.job")
	must(t, os.WriteFile(path, whole, 0o644))
	if _, err := ReadJob(path); runtime.GOOS != "windows" && !errors.Is(err, fail.OpenToOthers) {
		t.Errorf("a job that others can read: %v", err)
	}
}

// A file with only a part's first line, or with an invalid one, is named in the error.
func TestLabelsThatAreNone(t *testing.T) {
	for _, text := range []string{"", "cosketch part/1 {}\n", "cosketch part/1 {\"shard\": 3, \"of\": 2}\n", "cosketch part/2 {}\n", "cosketch part/1 " + strings.Repeat(" ", 1<<20), "PAR1"} {
		path := filepath.Join(t.TempDir(), "x.part")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := Look(path); !errors.Is(err, fail.PartDamaged) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

// BenchmarkPart reads a Parquet file into a sketch, as party run does, and makes a part of it:
// 200,000 records of ten columns, or 4,000,000 with COSKETCH_FULL set.
func BenchmarkPart(b *testing.B) {
	records := full.Or(200_000, 4_000_000)
	m := lake(b)
	m.Source, m.Workers = dataset.Files(shard(b, records)), runtime.GOMAXPROCS(0)
	rate := func(b *testing.B) { b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "rows/s") }
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			builder, err := m.Plans[0].NewBuilder(m.Job.Keys, m.Workers)
			must(b, err)
			sampler := people.NewSampler(m.Job.People, m.Source)
			var values []int64
			_, err = dataset.Each(b.Context(), m.Source, m.Schema, dataset.Options{SpillDir: m.SpillDir}, func(batch dataset.Batch) error {
				for _, id := range batch.IDs {
					sampler.Add(id)
				}
				return builder.AddRead(batch.IDs, batch.Of(&values, m.Picks[0]))
			}, func(dataset.Summary) {})
			must(b, err)
		}
		rate(b)
	})
	b.Run("part", func(b *testing.B) {
		var size counter
		for b.Loop() {
			size = 0
			_, err := Make(b.Context(), &size, m)
			must(b, err)
		}
		rate(b)
		b.ReportMetric(float64(size)/float64(records), "part-bytes/row")
	})
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
