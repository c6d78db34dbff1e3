package node_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// rehearse rehearses party a's release like the command, with the store opened read-only.
func (b *bench) rehearse() (local.Rehearsal, error, error) {
	b.t.Helper()
	st, err := store.Open(b.path("a"), store.Party, store.Options{ReadOnly: true})
	check(b.t, err)
	defer st.Close()
	return local.Rehearse(context.Background(), source.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }, Study: b.study,
		Env: node.PartyEnv{Now: b.now, Entropy: rand.Reader, Workers: 2},
	})
}

// contents are the digests of a state directory's files, except those that SQLite needs for
// readers.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	}))
	return out
}

// A rehearsal describes the later release, and leaves the store unchanged: both are made by the
// same steps.
func TestRehearsalIsTheReleaseWithoutTrace(t *testing.T) {
	for name, w := range map[string]terms{
		"columns":      smallSketch,
		"standardised": ownSketch,
		"own clip": {
			partition: "horizontal",
			columns:   "[{name: x, kind: numeric, bounds: [0, 1]}, {name: y, kind: numeric, centre: 0.5, spread: 1}]",
			sketches:  "[{side: moments, clip: own}]",
			privacy:   "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}",
			analyses:  "[{kind: mean}]",
			caps:      "{record: {epsilon: 1, delta: 1e-6}}",
		},
		"records": {
			partition: "horizontal",
			columns:   "[{name: x, kind: numeric, bounds: [0, 1]}, {name: y, kind: numeric, bounds: [0, 1]}]",
			sketches:  "[{side: records, family: sparse, k: 8, s: 1}]",
			privacy:   "{unit: attribute, mechanism: laplace, epsilon: 1}",
			analyses:  "[{kind: k-means, clusters: 2}]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, w, func(party int) string {
				if w.partition == "" {
					return uniform(50)(party)
				}
				return "id,x,y\nr1,0.5,0.25\nr2,2,0.5\nr3,0,1\n"
			})
			account := 1 // for single values
			if w.caps != "" {
				account = 0 // for whole records
			}
			one := func(epsilon *float64) bool { return math.Abs(*epsilon-1) < 1e-4 }
			before := contents(t, b.path("a"))
			planned, refusal, err := b.rehearse()
			check(t, errors.Join(refusal, err))
			if after := contents(t, b.path("a")); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the rehearsal changed the store:\n%v\n%v", before, after)
			}
			if !planned.Allowed || planned.Budget[account].Before == nil || *planned.Budget[account].Before != 0 || !one(planned.Budget[account].After) || *planned.Budget[account].Cap != 1 {
				t.Errorf("planned %+v", planned)
			}

			stop := b.serve()
			defer stop()
			b.runAll(b.context(), b.parties...)
			st := b.open("a")
			defer st.Close()
			made, err := local.Inspect(st, b.study)
			check(t, err)
			if planned.Records != made.Records || len(planned.Sketches) != len(made.Sketches) {
				t.Fatalf("planned %+v, made %+v", planned, made)
			}
			for i, p := range planned.Sketches {
				m := made.Sketches[i]
				if p.Side != m.Side || p.Rows != m.Rows || p.Cols != m.Cols || p.Noise != m.Noise || p.Variance != m.Variance || p.Statement != m.Statement {
					t.Errorf("planned %+v, made %+v", p, m)
				}
				if !strings.Contains(p.Statement, "ε = 1") {
					t.Errorf("the release costs ε = 1, and it is said: %s", p.Statement)
				}
				if p.Bytes != p.Rows*p.Cols*int64(p.Width) || planned.Bytes < p.Bytes {
					t.Errorf("%d bytes of %d", p.Bytes, planned.Bytes)
				}
			}
			check(t, st.Close())
			again, refusal, err := b.rehearse() // it costs nothing more
			check(t, errors.Join(refusal, err))
			if !one(again.Budget[account].Before) || !one(again.Budget[account].After) {
				t.Errorf("after the release: %+v", again.Budget)
			}
		})
	}
}

// What would stop the release does not stop a rehearsal but is reported; a fault of the data is an
// error.
func TestRehearsalRefusals(t *testing.T) {
	capped := smallSketch
	capped.caps = "{attribute: {epsilon: 0.5}}"
	b := newBench(t, capped, uniform(50))
	r, refusal, err := b.rehearse()
	check(t, err)
	if !is[*ledger.Exceeded](refusal) || r.Allowed || r.Refusal != refusal.Error() || *r.Budget[1].After != 1 || *r.Budget[1].Cap != 0.5 {
		t.Errorf("over the cap: %v, %+v", refusal, r)
	}
	check(t, os.WriteFile(b.path("a.csv"), []byte("id,x\n1,none\n"), 0o600))
	if _, _, err := b.rehearse(); !is[*dataset.Error](err) {
		t.Errorf("bad data: %v", err)
	}
}

// Without entropy there is no seed, and no default.
func TestRehearsalNeedsEntropy(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("a")
	defer st.Close()
	_, _, err := local.Rehearse(context.Background(), source.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }, Study: b.study,
		Env: node.PartyEnv{Now: b.now, Entropy: iotest.ErrReader(errors.New("no entropy today"))},
	})
	if err == nil || !strings.Contains(err.Error(), "drawing a seed: no entropy today") {
		t.Errorf("got %v", err)
	}
}
