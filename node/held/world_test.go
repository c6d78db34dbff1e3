package held

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// cells are studies of every side and partition, clipped if records are the unit.
var cells = map[string]string{
	"columns, vertical, clipped": `
partition: vertical
columns:
  - {name: x, kind: numeric, bounds: [0, 10], owner: north}
  - {name: w, kind: categorical, values: [a, b, c], owner: north}
  - {name: other, kind: binary, owner: south}
  - {name: third, kind: binary, owner: west}
sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 0.3, squares: true}, clip: 0.8}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: inner-product}]`,
	"both sides, horizontal, clipped": `
partition: horizontal
columns:
  - {name: x, kind: numeric, bounds: [0, 10]}
  - {name: w, kind: categorical, values: [a, b, c]}
sketches:
  - {side: columns, family: rademacher, k: 16, helpers: {ones: 0.3}, clip: 0.7}
  - {side: records, family: sparse, k: 4, clip: 0.9}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: inner-product}, {kind: k-means, clusters: 2}]`,
	"records, vertical": `
partition: vertical
columns:
  - {name: x, kind: numeric, bounds: [0, 10], owner: north}
  - {name: w, kind: categorical, values: [a, b, c], owner: north}
  - {name: other, kind: binary, owner: south}
  - {name: third, kind: binary, owner: west}
sketches: [{side: records, family: hadamard, k: 8}, {side: records, family: identity}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: k-means, clusters: 2}]`,
	"sums, horizontal, clipped": `
partition: horizontal
columns:
  - {name: x, kind: numeric, bounds: [0, 10]}
  - {name: w, kind: categorical, values: [a, b, c]}
sketches:
  - {side: moments, clip: 0.9}
  - {side: cells, L: 2, clip: 0.9}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}, {kind: k-means, clusters: 2}]`,
	"records, horizontal": `
partition: horizontal
columns:
  - {name: x, kind: numeric, bounds: [0, 10]}
  - {name: w, kind: categorical, values: [a, b, c]}
sketches: [{side: records, family: identity}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: k-means, clusters: 2}]`,
	"labels, horizontal": `
partition: horizontal
columns:
  - {name: x, kind: numeric, bounds: [0, 10]}
  - {name: w, kind: categorical, values: [a, b, c], role: label}
sketches: [{side: records, family: sparse, k: 4, clip: 0.9, labels: randomised}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: svm}]`,
}

// world is a party's data and what is held of them, with a model of what should be.
type world struct {
	t      testing.TB
	dir    string // of the data
	store  *store.Store
	study  *study.Study
	source []byte // of the study
	rng    *rand.Rand
	looks  bool   // the study takes a first look
	look   []byte // the drawn look
	next   int    // id of the next record

	shards map[string][]record // by file name
	gone   map[string]bool     // withdrawn ids
}

// record is a row of a file: an id and two values.
type record struct{ id, x, w string }

func newWorld(t testing.TB, cell string, n uint64) *world {
	t.Helper()
	return newWorldOf(t, cells[cell], n)
}

func newWorldOf(t testing.TB, terms string, n uint64) *world {
	t.Helper()
	example, err := os.ReadFile("../../protocol/study/testdata/registry.yaml")
	must(t, err)
	head, _, _ := strings.Cut(string(example), "partition:")
	source := head + "expires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\nrecords: {id: [id], missing: centre}\nbits: 10\n" + strings.TrimPrefix(terms, "\n") + "\n"
	s, err := file.Parse([]byte(source))
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	w := &world{t: t, dir: t.TempDir(), study: s, source: []byte(source), rng: rand.New(rand.NewPCG(n, 2)), shards: map[string][]record{}, gone: map[string]bool{}}
	state := filepath.Join(t.TempDir(), "state")
	must(t, store.Create(state, store.Party, rand.NewChaCha8([32]byte{1})))
	w.store, err = store.Open(state, store.Party, store.Options{})
	must(t, err)
	t.Cleanup(func() { w.store.Close() })
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options returns Options for a Set stored in files, with data in a directory.
func (w *world) options(files Files, dir string) Options {
	o := Options{
		Files: files, Study: w.study.ID, T2: sha256.Sum256([]byte("T2")), Seed: seed.FromBytes([32]byte{1, 2, 3}),
		Dataset: "patients", Source: dataset.Files(filepath.Join(dir, "*.csv")), SpillDir: w.store.Dir(), Entropy: rand.NewChaCha8([32]byte{7}), Workers: 2,
		Schema: dataset.Schema{ID: []string{"id"}, Missing: study.MissingCentre, Bits: w.study.Bits, MaxRecords: 1 << 40},
	}
	party, _ := w.study.PartyByName("north")
	for i := range w.study.Sketches {
		plan, err := release.For(w.study, party, i)
		must(w.t, err)
		o.Plans, o.Picks = append(o.Plans, plan), append(o.Picks, []int{0, 1, 2, 3})
	}
	if o.Looks, o.Look = w.looks, w.look; w.look != nil {
		var err error
		o.Plans, err = job.After(o.Plans, w.look)
		must(w.t, err)
	}
	for _, c := range w.study.OwnColumns(party) {
		column := w.study.Columns[c]
		o.Schema.Fields = append(o.Schema.Fields, dataset.Field{Name: column.Name, Header: column.Name, Kind: column.Kind, Scale: column.Scale, Values: column.Values})
	}
	return o
}

func (w *world) files() Files { return w.store.Held(w.study.ID) }

// open opens what is held, as a new process would.
func (w *world) open() *Set {
	w.t.Helper()
	s, err := Open(w.options(w.files(), w.dir))
	must(w.t, err)
	return s
}

// records draws new records; some values are missing or out of bounds.
func (w *world) records(n int) []record {
	var out []record
	for range n {
		r := record{fmt.Sprintf("person-%d", w.next), fmt.Sprintf("%.2f", 14*w.rng.Float64()-2), []string{"a", "b", "c", ""}[w.rng.IntN(4)]}
		if w.rng.IntN(9) == 0 {
			r.x = ""
		}
		if r.w == "" && w.study.Sketches[0].Labels != study.LabelsNone {
			r.w = "b" // a missing label cannot be replaced
		}
		w.next++
		out = append(out, r)
	}
	return out
}

func write(t testing.TB, path string, records []record) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,x,w\n")
	for _, r := range records {
		fmt.Fprintf(&b, "%s,%s,%s\n", r.id, r.x, r.w)
	}
	must(t, os.WriteFile(path, []byte(b.String()), 0o600))
}

// put writes a file of the dataset.
func (w *world) put(name string, records []record) {
	w.shards[name] = records
	write(w.t, filepath.Join(w.dir, name), records)
}

// withdrawal writes a file of records to withdraw, outside the dataset.
func (w *world) withdrawal(records []record) string {
	path := filepath.Join(w.t.TempDir(), "gone.csv")
	write(w.t, path, records)
	return path
}

// left returns the records that should be held, by file.
func (w *world) left() map[string][]record {
	out := map[string][]record{}
	for name, records := range w.shards {
		out[name] = slices.DeleteFunc(slices.Clone(records), func(r record) bool { return w.gone[r.id] })
	}
	return out
}

// atOnce projects records in one pass, without a Set.
func (w *world) atOnce(shards map[string][]record) Exact {
	w.t.Helper()
	dir := w.t.TempDir()
	for name, records := range shards {
		write(w.t, filepath.Join(dir, name), records)
	}
	o := w.options(nil, dir)
	var builders []*release.Builder
	for _, plan := range o.Plans {
		b, err := plan.NewBuilder(o.Seed, 1)
		must(w.t, err)
		builders = append(builders, b)
	}
	reader, err := dataset.Open(context.Background(), o.Source, o.Schema, dataset.Options{AllowEmpty: true})
	must(w.t, err)
	defer reader.Close()
	var out Exact
	for {
		batch, err := reader.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		must(w.t, err)
		for i, b := range builders {
			must(w.t, b.AddRead(batch.IDs, batch.Pick(nil, o.Picks[i])))
		}
		for _, id := range batch.IDs {
			out.IDs = append(out.IDs, slices.Clone(id))
		}
	}
	out.Records = reader.Summary().Records
	if !slices.ContainsFunc(o.Plans, hasRows) {
		out.IDs = nil
	}
	for _, b := range builders {
		out.Sketches = append(out.Sketches, b.Exact())
	}
	return out
}

// same returns an error if two exact sketches differ in content or encoding.
func same(a, b Exact) error {
	if a.Records != b.Records || len(a.Sketches) != len(b.Sketches) || len(a.IDs) != len(b.IDs) {
		return fmt.Errorf("%d records, %d ids; want %d and %d", a.Records, len(a.IDs), b.Records, len(b.IDs))
	}
	for i := range a.IDs {
		if string(a.IDs[i]) != string(b.IDs[i]) {
			return fmt.Errorf("id %d differs", i)
		}
	}
	for i, one := range a.Sketches {
		two := b.Sketches[i]
		if one.Clipped != two.Clipped || one.Order != nil || one.Sketch.String() != two.Sketch.String() || !slices.Equal(one.Sketch.Data, two.Sketch.Data) {
			return fmt.Errorf("sketch %d: %v with %d clipped is not %v with %d clipped", i, one.Sketch, one.Clipped, two.Sketch, two.Clipped)
		}
		if a.Records == 0 && one.Sketch.Rows == 0 {
			continue
		}
		if !slices.Equal(one.Rows.Pseudonyms, two.Rows.Pseudonyms) {
			return fmt.Errorf("sketch %d has other pseudonyms", i)
		}
		h1, bytes1, err1 := one.Encode()
		h2, bytes2, err2 := two.Encode()
		if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(h1, h2) || !slices.Equal(bytes1, bytes2) {
			return fmt.Errorf("sketch %d is written otherwise (%v)", i, err)
		}
	}
	return nil
}

// verify compares what is held with what should be.
func (w *world) verify(when string) {
	w.t.Helper()
	got, err := w.open().Exact()
	must(w.t, err)
	if err := same(got, w.atOnce(w.left())); err != nil {
		w.t.Fatalf("%s: %v", when, err)
	}
}
