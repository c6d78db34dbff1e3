package held

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
)

// elsewhere opens a Set whose data are elsewhere.
func (w *world) elsewhere() *Set {
	w.t.Helper()
	o := w.options(w.files(), w.dir)
	o.Source = dataset.Source{Elsewhere: "lake"}
	s, err := Open(o)
	must(w.t, err)
	return s
}

// job writes the job, and reads it as a worker does.
func (w *world) job(afresh bool) *part.Job {
	w.t.Helper()
	j := w.asked()
	must(w.t, w.elsewhere().PrepareJob(afresh, j))
	read, err := part.DecodeJob(j.Encode())
	must(w.t, err)
	return read
}

// asked returns what a node knows of its job before its Set fills in the rest.
func (w *world) asked() *part.Job {
	party, _ := w.study.PartyByName("north")
	return &part.Job{Study: w.study, Source: w.source, Party: w.study.Parties[party].ID, Entry: part.Entry{Dataset: "patients", Where: "lake"}, People: [32]byte{5}}
}

// make makes a part of records for a job.
func (w *world) make(j *part.Job, shard part.Shard, records []record) part.File {
	w.t.Helper()
	data := filepath.Join(w.t.TempDir(), "shard.csv")
	write(w.t, data, records)
	return w.makeOf(j, shard, dataset.Files(data))
}

func (w *world) makeOf(j *part.Job, shard part.Shard, from dataset.Source) part.File {
	w.t.Helper()
	o := w.options(nil, w.dir)
	var out bytes.Buffer
	_, err := part.Make(ctx, &out, part.MakeOptions{Job: j, Shard: shard, Source: from, Schema: o.Schema, Pass: part.Pass{Plans: o.Plans, Looks: j.ForFirstLook()}, Picks: o.Picks, SpillDir: w.t.TempDir()})
	must(w.t, err)
	path := filepath.Join(w.t.TempDir(), fmt.Sprintf("%d.part", shard.Number))
	must(w.t, os.WriteFile(path, out.Bytes(), 0o600))
	f, err := part.Look(path)
	must(w.t, err)
	return f
}

// dealt splits records into shards, keeping their order; some are empty.
func dealt(rng *rand.Rand, records []record, n int) [][]record {
	cuts := []int{0, len(records)}
	for range n - 1 {
		cuts = append(cuts, rng.IntN(len(records)+1))
	}
	slices.Sort(cuts)
	var out [][]record
	for i := range n {
		out = append(out, records[cuts[i]:cuts[i+1]])
	}
	return out
}

// Parts of 1, 3 and 16 shards, some of them empty, in any order equal, to the bit, reading all
// records in one pass. Records can be withdrawn from their sum as from any other.
func TestPartsAreReadingAtOnce(t *testing.T) {
	for cell := range cells {
		t.Run(cell, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1, 3, 16} {
				w := newWorld(t, cell, uint64(n))
				all := w.records(90)
				j := w.job(false)
				var files []part.File
				for i, records := range dealt(w.rng, all, n) {
					files = append(files, w.make(j, part.Shard{Number: i + 1, Of: n}, records))
				}
				w.rng.Shuffle(n, func(i, k int) { files[i], files[k] = files[k], files[i] })
				set := w.elsewhere()
				var sample people.Sample
				set.Keep = func(of people.Sample) error { sample = of; return nil }
				changes, err := set.Sum(ctx, w.asked(), files)
				must(t, err)
				if !changes.Changed || len(changes.Added) != n || sample.Empty() {
					t.Errorf("%d shards: %+v", n, changes)
				}
				w.shards["all.csv"] = all
				w.verifyParts(fmt.Sprintf("%d shards", n))

				again, err := w.elsewhere().Sum(ctx, w.asked(), files)
				must(t, err)
				if again.Changed {
					t.Errorf("%d shards once more: %+v", n, again)
				}
				leave := []record{all[3], all[50], all[89]}
				if _, err := w.elsewhere().Withdraw(ctx, w.withdrawal(leave)); err != nil {
					t.Fatal(err)
				}
				for _, r := range leave {
					w.gone[r.id] = true
				}
				w.verifyParts(fmt.Sprintf("%d shards, with withdrawals", n))
			}
		})
	}
}

// verifyParts compares what is held with what should be.
func (w *world) verifyParts(when string) {
	w.t.Helper()
	got, err := w.elsewhere().Exact()
	must(w.t, err)
	if err := same(got, w.atOnce(w.left())); err != nil {
		w.t.Fatalf("%s: %v", when, err)
	}
}

// Studies that take a first look have two jobs. The look's parts add up to what a look at all
// records sums. The sketch's parts, made with the look drawn from that, add up to the sketch.
func TestPartsOfAFirstLook(t *testing.T) {
	for name, terms := range map[string]string{
		"moments": `
partition: horizontal
columns:
  - {name: x, kind: numeric, bounds: [0, 10]}
  - {name: w, kind: categorical, values: [a, b, c]}
sketches:
  - {side: moments, clip: own, standardise: own, fourth: true}
  - {side: cells, L: 2, clip: 0.9}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}, {kind: k-means, clusters: 2}]`,
		"columns": `
partition: vertical
columns:
  - {name: x, kind: numeric, bounds: [0, 10], owner: north}
  - {name: w, kind: categorical, values: [a, b, c], owner: north}
  - {name: other, kind: binary, owner: south}
  - {name: third, kind: binary, owner: west}
sketches: [{side: columns, standardise: own, family: sparse, k: 16, helpers: {ones: 1}, clip: 2}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: correlation}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1, 3, 16} {
				w := newWorldOf(t, terms, uint64(n))
				w.looks = true
				all := w.records(90)
				w.shards["all.csv"] = all
				first := w.job(false)
				if !first.ForFirstLook() {
					t.Fatal("the first job is not of a look")
				}
				var files []part.File
				for i, records := range dealt(w.rng, all, n) {
					files = append(files, w.make(first, part.Shard{Number: i + 1, Of: n}, records))
				}
				_, err := w.elsewhere().Sum(ctx, w.asked(), files)
				must(t, err)
				if w.elsewhere().Exists() || !w.elsewhere().Looked() {
					t.Fatal("what a look is drawn of is taken for a sketch")
				}
				w.look = w.drawn(w.elsewhere(), all)

				if w.elsewhere().Exists() || w.elsewhere().Looked() {
					t.Error("what the look was drawn of is held when it is drawn")
				}
				if _, err := w.elsewhere().Sum(ctx, w.asked(), files); !errors.Is(err, fail.DataElsewhere) {
					t.Errorf("parts of the look, in the place of those of the sketch: %v", err)
				}
				second := w.job(false)
				if _, err := w.elsewhere().Sum(ctx, w.asked(), files); !errors.Is(err, fail.PartForeign) {
					t.Errorf("parts of the look by the second job: %v", err)
				}
				for i, records := range dealt(w.rng, all, n) {
					files[i] = w.make(second, part.Shard{Number: i + 1, Of: n}, records)
				}
				_, err = w.elsewhere().Sum(ctx, w.asked(), files)
				must(t, err)
				w.verifyParts(fmt.Sprintf("%d shards", n))

				w.look = append([]byte(nil), w.look...)
				w.look[len(w.look)-1] ^= 1
				if w.elsewhere().Exists() {
					t.Error("a sketch is taken for one by another look")
				}
			}
		})
	}
}

// drawn draws the look from what is held, and checks that this equals looks at all records in one
// pass.
func (w *world) drawn(set *Set, all []record) []byte {
	w.t.Helper()
	var looks, atOnce []*release.Look
	o := w.options(nil, w.dir)
	for _, plan := range o.Plans {
		var a, b *release.Look
		if plan.Looks() {
			a, b = plan.NewLook(), plan.NewLook()
		}
		looks, atOnce = append(looks, a), append(atOnce, b)
	}
	records, err := set.RestoreLooks(looks)
	must(w.t, err)
	data := filepath.Join(w.t.TempDir(), "all.csv")
	write(w.t, data, all)
	summary, err := dataset.Each(ctx, dataset.Files(data), o.Schema, dataset.Options{}, func(b dataset.Batch) error {
		for i, look := range atOnce {
			if look != nil {
				must(w.t, look.Add(b.Pick(nil, o.Picks[i])))
			}
		}
		return nil
	}, func(dataset.Summary) {})
	must(w.t, err)
	var out []byte
	for i, look := range looks {
		if look == nil {
			continue
		}
		if got, want := look.Sketch(), atOnce[i].Sketch(); records != summary.Records || !slices.Equal(got.Data, want.Data) {
			w.t.Fatalf("looks at parts sum %v of %d records, at once %v of %d", got.Data, records, want.Data, summary.Records)
		}
		moves, err := look.Draw(rand.NewChaCha8([32]byte{3}))
		must(w.t, err)
		other, err := atOnce[i].Draw(rand.NewChaCha8([32]byte{3}))
		must(w.t, err)
		if !slices.Equal(moves, other) {
			w.t.Fatal("the same noise on the same sums draws another look")
		}
		out = append(out, release.EncodeLook(moves)...)
	}
	return out
}

// Parts that do not belong together are refused by name, and nothing changes.
func TestPartsThatDoNotFit(t *testing.T) {
	w := newWorld(t, "both sides, horizontal, clipped", 1)
	if _, err := w.elsewhere().Sum(ctx, w.asked(), nil); !errors.Is(err, fail.DataElsewhere) {
		t.Errorf("parts without a job: %v", err)
	}
	all := w.records(30)
	j := w.job(false)
	one, two, three := w.make(j, part.Shard{Number: 1, Of: 3}, all[:10]), w.make(j, part.Shard{Number: 2, Of: 3}, all[10:20]), w.make(j, part.Shard{Number: 3, Of: 3}, all[20:])

	other := newWorld(t, "sums, horizontal, clipped", 2)
	ofStudy := other.make(other.job(false), part.Shard{Number: 3, Of: 3}, all[20:])
	entry := *j
	entry.Entry.Dataset = "visits"
	ofEntry := w.make(&entry, part.Shard{Number: 3, Of: 3}, all[20:])
	words := *j
	words.Entry.Words.Missing = []string{"?"}
	ofJob := w.make(&words, part.Shard{Number: 3, Of: 3}, all[20:])

	damaged := func(change func([]byte) []byte) part.File {
		data, err := os.ReadFile(three.Path)
		must(t, err)
		f := three
		f.Path = filepath.Join(t.TempDir(), "damaged.part")
		must(t, os.WriteFile(f.Path, change(data), 0o600))
		f, err = part.Look(f.Path)
		must(t, err)
		return f
	}
	sealedFor := func(number int) part.File { // another shard's first line before the sealed content
		return damaged(func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"shard":3`), fmt.Appendf(nil, `"shard":%d`, number), 1)
		})
	}
	for name, c := range map[string]struct {
		files []part.File
		is    fail.ID
		says  string
	}{
		"a shard that is missing":      {[]part.File{one, three}, fail.PartsIncomplete, "no part of shard 2/3"},
		"a part twice":                 {[]part.File{one, two, three, two}, fail.PartsIncomplete, "shard 2 of 3 has two parts"},
		"a shard twice":                {[]part.File{one, two, sealedFor(2)}, fail.PartsIncomplete, "shard 2 of 3 has two parts"},
		"shards that count otherwise":  {[]part.File{one, two, w.make(j, part.Shard{Number: 3, Of: 4}, all[20:])}, fail.PartsIncomplete, "is one of 4 shards, others are of 3"},
		"another study":                {[]part.File{one, two, ofStudy}, fail.PartForeign, "it is of study"},
		"another data entry":           {[]part.File{one, two, ofEntry}, fail.PartForeign, `it is of dataset "visits", not "patients"`},
		"another reading":              {[]part.File{one, two, ofJob}, fail.PartForeign, "it is of job"},
		"a part that is cut off":       {[]part.File{one, two, damaged(func(b []byte) []byte { return b[:len(b)-40] })}, fail.PartDamaged, "shard 3 of 3"},
		"a part with a changed byte":   {[]part.File{one, two, damaged(func(b []byte) []byte { b[len(b)/2] ^= 1; return b })}, fail.PartDamaged, "shard 3 of 3"},
		"a part with bytes behind it":  {[]part.File{one, two, damaged(func(b []byte) []byte { return append(b, 0) })}, fail.PartDamaged, "shard 3 of 3"},
		"a part under another's line":  {[]part.File{sealedFor(1), two, three}, fail.PartDamaged, "shard 1 of 3"},
		"an id in two parts":           {[]part.File{one, two, w.make(j, part.Shard{Number: 3, Of: 3}, append(slices.Clone(all[20:]), all[4]))}, "", "reading shard 3 of 3:12: record id repeated: it is in shard 1 of 3:6, too"},
		"two ids that are in two, too": {[]part.File{one, two, w.make(j, part.Shard{Number: 3, Of: 3}, append(slices.Clone(all[20:]), all[14], all[4]))}, "", "reading shard 3 of 3:12: record id repeated: it is in shard 2 of 3:6, too; so are 1 more"},
		"no record at all":             {[]part.File{w.make(j, part.Shard{Number: 1, Of: 1}, nil)}, "", "no records"},
	} {
		before, err := os.ReadFile(filepath.Join(w.store.Dir(), "held", w.study.ID.String(), "manifest"))
		must(t, err)
		_, err = w.elsewhere().Sum(ctx, w.asked(), c.files)
		if err == nil || c.is != "" && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		after, err := os.ReadFile(filepath.Join(w.store.Dir(), "held", w.study.ID.String(), "manifest"))
		must(t, err)
		if !bytes.Equal(before, after) || w.elsewhere().Exists() {
			t.Errorf("%s: something was changed", name)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.elsewhere().Sum(canceled, w.asked(), []part.File{one, two, three}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}

	// Once they are added up, other parts of the job are refused; so are parts of the old job for a
	// new one.
	_, err := w.elsewhere().Sum(ctx, w.asked(), []part.File{one, two, three})
	must(t, err)
	var stale *StaleError
	if _, err := w.elsewhere().Sum(ctx, w.asked(), []part.File{one, two, w.make(j, part.Shard{Number: 3, Of: 3}, all[20:29])}); !errors.As(err, &stale) {
		t.Errorf("another part after the sum: %v", err)
	} else if hint := fail.Find(err).Hint; hint != anewFromParts {
		t.Errorf("what to do about another part: %q", hint)
	}
	if err := w.elsewhere().PrepareJob(false, w.asked()); !errors.As(err, &stale) {
		t.Errorf("a job after the sum: %v", err)
	}
	if _, err := w.elsewhere().Withdraw(ctx, w.withdrawal(all[:1])); err != nil {
		t.Error(err)
	}
	anew := w.job(true)
	if anew.ID() == j.ID() {
		t.Error("a job that begins anew is the one before")
	}
	if _, err := w.elsewhere().Sum(ctx, w.asked(), []part.File{one, two, three}); !errors.Is(err, fail.PartForeign) {
		t.Errorf("parts of the job before: %v", err)
	}
	if _, err := w.elsewhere().Sum(ctx, w.asked(), []part.File{w.make(anew, part.Shard{Number: 1, Of: 1}, all)}); err == nil || !strings.Contains(err.Error(), "shard 1 of 1: it has a record that was withdrawn") {
		t.Errorf("a record that was withdrawn: %v", err)
	}
	_, err = w.elsewhere().Sum(ctx, w.asked(), []part.File{w.make(anew, part.Shard{Number: 1, Of: 1}, all[1:])})
	must(t, err)
	w.shards["all.csv"] = all[1:]
	w.verifyParts("anew")
}

// A job has only those keys of the seed that rows take, and an equal Set gives an equal job.
func TestJobsHaveTheKeysThatRowsTake(t *testing.T) {
	for cell, want := range map[string]string{
		"sums, horizontal, clipped":       "cell permutation, cell rows",
		"columns, vertical, clipped":      "record rows",
		"both sides, horizontal, clipped": "column rows, record rows",
		"records, horizontal":             "",
	} {
		w := newWorld(t, cell, 1)
		j := w.job(false)
		var got []string
		_, lines, _ := strings.Cut(string(j.Keys.Bytes()), "\n")
		for line := range strings.Lines(lines) {
			_, label, _ := strings.Cut(strings.TrimSpace(line), " ")
			got = append(got, label)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: the keys of %q", cell, got)
		}
		root := w.options(nil, w.dir).Seed.Bytes()
		if bytes.Contains(j.Encode(), fmt.Appendf(nil, "%x", root)) {
			t.Errorf("%s: the seed is in the job", cell)
		}
		if w.job(false).ID() != j.ID() {
			t.Errorf("%s: the job changes when it is written again", cell)
		}
	}
}
