package node_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/protocol"
)

// marker is a value that no honest computation writes, and idMarker begins every record's id. Both
// are so long that a gigabyte of random bytes holds them by chance less than once in 10^9 searches.
const (
	marker   = "71.53846"
	idMarker = "ZQXJWVKYPF"
)

// secretStudy runs a study with marked data at an aggregator started by serve. It returns what must
// not be found there: values, ids, and every secret of party a, taken from its own files while the
// study ran. before is called when all parties are done and the aggregator still runs.
func secretStudy(t *testing.T, serve func(*bench) (stop func()), before func()) (*bench, map[string][]byte) {
	t.Helper()
	b := newBench(t, terms{
		partition: "horizontal",
		columns:   "[{name: u, kind: numeric, bounds: [0, 100]}, {name: v, kind: numeric, bounds: [0, 100]}]",
		sketches:  "[{side: records, family: sparse, k: 8, s: 1}]",
		privacy:   "{unit: attribute, mechanism: laplace, epsilon: 1}",
		analyses:  "[{kind: k-means, clusters: 2}]",
	}, func(party int) string {
		var s strings.Builder
		s.WriteString("id,u,v\n")
		for i := range 40 {
			fmt.Fprintf(&s, "%s-%d-%d,%s,%d\n", idMarker, party, i, marker, i)
		}
		return s.String()
	})
	secrets := map[string][]byte{"raw value": []byte(marker), "record id": []byte(idMarker)}
	var mu sync.Mutex
	observe := func(p event.Progress) {
		at := ""
		switch {
		case p.Milestone == event.Persisted && p.Kind == protocol.KindCommit:
			at = "agreement secrets"
		case p.Milestone == event.Projected:
			at = "seed"
		default:
			return
		}
		files, err := filepath.Glob(filepath.Join(b.path("a"), "secrets", "*"))
		if err != nil || len(files) != 1 {
			t.Errorf("secrets at %q: %v %v", at, files, err)
			return
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Errorf("secrets at %q: %v", at, err)
		}
		mu.Lock()
		defer mu.Unlock()
		secrets[at] = data
	}
	stop := serve(b)
	ctx := b.context()
	var a sync.WaitGroup
	a.Go(func() {
		if err := b.run(ctx, "a", observe); err != nil {
			t.Errorf("party a: %v", err)
		}
	})
	b.runAll(ctx, "b", "c")
	a.Wait()
	before()
	stop()
	return b, needlesOf(t, secrets, b.study.ID, 4)
}

// After a study no file of the aggregator and no log line holds a raw value, a record id, the seed
// or an ephemeral secret. The secrets are taken from the party's own file while the study runs;
// that file must be gone at the end.
func TestNothingLeaksToTheAggregator(t *testing.T) {
	b, needles := secretStudy(t, (*bench).serve, func() {})
	if found := search(t, b.path("agg"), needles); len(found) > 0 {
		t.Errorf("the aggregator's files hold %v", found)
	}
	if found := find(b.logs.Bytes(), needles); len(found) > 0 {
		t.Errorf("the logs hold %v", found)
	}
	// The search is valid only if it finds what is there.
	if found := search(t, b.dir, needles); len(found) < 2 {
		t.Errorf("in all directories, the party's own data included, the search found only %v", found)
	}
	left, err := filepath.Glob(filepath.Join(b.path("a"), "secrets", "*"))
	check(t, err)
	if len(left) > 0 {
		t.Errorf("secrets outlived the study: %v", left)
	}
}

// needlesOf splits the secret files into their 32-byte fields, and encodes each as bytes,
// hexadecimal and base64. It skips the public parts of a secrets file (study, attempt, own key;
// transcripts).
func needlesOf(t *testing.T, secrets map[string][]byte, id protocol.StudyID, want int) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	add := func(name string, secret []byte) {
		out[name] = secret
		out[name+" in hexadecimal"] = []byte(hex.EncodeToString(secret))
		out[name+" in base64"] = []byte(strings.TrimRight(base64.StdEncoding.EncodeToString(secret), "="))
	}
	for name, data := range secrets {
		switch name {
		case "agreement secrets":
			rest := data[1+1+32+4+32:] // tag, version, study, attempt, own key
			for i, field := range []string{"contribution", "blinder", "pair key", "ephemeral key"} {
				add(field, rest[32*i:][:32])
			}
		case "seed":
			add("seed", data[1:][:32])
		default:
			out[name] = data
		}
	}
	if len(out) < want {
		t.Fatalf("only %d secrets to look for", len(out))
	}
	return out
}

func find(haystack []byte, needles map[string][]byte) []string {
	var found []string
	for name, needle := range needles {
		if bytes.Contains(haystack, needle) {
			found = append(found, name)
		}
	}
	return found
}

func search(t *testing.T, dir string, needles map[string][]byte) []string {
	t.Helper()
	var found []string
	files := 0
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		found = append(found, find(data, needles)...)
		return nil
	}))
	if files < 5 {
		t.Fatalf("only %d files searched under %s", files, dir)
	}
	return found
}

// The number of clipped records depends on the data and has no noise. Only the party learns it,
// when it sketches and later from its release. What is sent has no place for it: neither the fields
// of a release's header nor the bytes of the sketches.
func TestClippedCountStaysAtTheParty(t *testing.T) {
	b := newBench(t, terms{
		sketches: "[{side: columns, family: sparse, k: 64, helpers: {ones: 0.3}, clip: 0.5}]",
		privacy:  "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}",
		analyses: "[{kind: correlation}]",
		caps:     "{record: {epsilon: 1, delta: 1e-6}}",
	}, func(party int) string {
		var s strings.Builder
		fmt.Fprintf(&s, "id,%c\n", "xyz"[party])
		for i := range 50 {
			fmt.Fprintf(&s, "ID%d,%g\n", i, 0.5+0.5*float64(min(i/37, 1))) // 13 records of length 0.58 around the middle
		}
		return s.String()
	})
	stop := b.serve()
	defer stop()
	ctx := b.context()
	var note string
	var a sync.WaitGroup
	a.Go(func() {
		err := b.run(ctx, "a", func(p event.Progress) {
			if p.Milestone == event.Projected {
				note = p.Note
			}
		})
		if err != nil {
			t.Errorf("party a: %v", err)
		}
	})
	b.runAll(ctx, "b", "c")
	a.Wait()
	if !strings.Contains(note, "sketch 1: 13 records clipped") {
		t.Errorf("the party was told: %s", note)
	}
	st := b.open("a")
	defer st.Close()
	r, err := local.Inspect(st, b.study)
	check(t, err)
	if got := r.Sketches[0].Clipped; got == nil || *got != 13 {
		t.Errorf("inspect says %v clipped", got)
	}
	for _, c := range []struct {
		of   any
		want string
	}{
		{protocol.Release{}, "T2 Records Sketches Published"},
		{protocol.ReleasedSketch{}, "Side Rows Cols Width Chunks Masked RowColumns"},
	} {
		kind := reflect.TypeOf(c.of)
		var fields []string
		for i := range kind.NumField() {
			fields = append(fields, kind.Field(i).Name)
		}
		if got := strings.Join(fields, " "); got != c.want {
			t.Errorf("%s has the fields %s: what is new in it must not depend on the data without noise", kind, got)
		}
	}
	if found := search(t, b.path("agg"), map[string][]byte{"word": []byte("clipped")}); len(found) > 0 {
		t.Errorf("the aggregator's files speak of it: %v", found)
	}
}
