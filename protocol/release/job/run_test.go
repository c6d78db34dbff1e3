package job_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// The order on which the privacy of records depends, for each kind of release.
func TestOrder(t *testing.T) {
	for _, m := range all(t) {
		t.Run(m.name, func(t *testing.T) {
			w := m.world(t)
			if err := m.run(t, w, 1); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(w.calls, " "); got != m.calls {
				t.Errorf("got  %s\nwant %s", got, m.calls)
			}
			m.check(t, w)
		})
	}
}

// A job that ended anywhere, before or after a call took effect, is started again. It ends with one
// release that was paid for once. A stored release is never drawn again.
func TestEveryCallFails(t *testing.T) {
	for _, m := range all(t) {
		t.Run(m.name, func(t *testing.T) {
			w := m.world(t)
			if err := m.run(t, w, 1); err != nil {
				t.Fatal(err)
			}
			failed := errors.New("the disk is gone")
			for at, name := range w.calls {
				if strings.HasPrefix(name, "(") {
					continue
				}
				for _, done := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d %s %v", at, name, done), func(t *testing.T) {
						w := m.world(t)
						w.fail = func(_ string, when bool) error {
							if len(w.calls) == at+1 && when == done {
								return failed
							}
							return nil
						}
						if err := m.run(t, w, 1); !errors.Is(err, failed) {
							t.Fatalf("ended with %v", err)
						}
						if got := len(w.calls); got != at+1 {
							t.Errorf("went on with %s", w.calls[at+1:])
						}
						w.fail = nil
						before := w.saved
						for run := range 2 {
							if err := m.run(t, w, byte(2+run)); err != nil {
								t.Fatal(err)
							}
						}
						if before != nil && w.saves == 1 && w.drops == 0 && w.saved != before {
							t.Error("a stored release was drawn again")
						}
						m.check(t, w)
					})
				}
			}
		})
	}
}

// spent is entropy that runs out after some reads.
type spent struct {
	io.Reader
	reads int
}

var errSpent = errors.New("the entropy is spent")

func (s *spent) Read(b []byte) (int, error) {
	if s.reads--; s.reads < 0 {
		return 0, errSpent
	}
	return s.Reader.Read(b)
}

// If entropy runs out at any point, nothing is stored, and what was paid for is not lost.
func TestEntropyGivesOut(t *testing.T) {
	for _, m := range all(t) {
		t.Run(m.name, func(t *testing.T) {
			for reads := 0; ; reads++ {
				w := m.world(t)
				spec := m.spec(t, 1)
				spec.Entropy = &spent{spec.Entropy, reads}
				before := w.saves
				if _, err := job.Run(t.Context(), spec, w); err == nil {
					if reads == 0 {
						t.Error("a release without entropy")
					}
					break
				} else if !errors.Is(err, errSpent) || w.saves != before {
					t.Fatalf("after %d reads: stored %d times, %v", reads, w.saves, err)
				}
				if err := m.run(t, w, 2); err != nil {
					t.Fatal(err)
				}
				m.check(t, w)
			}
		})
	}
}

// A release without noise is entered under unit record: it has no unit, and bounds neither.
func TestNoPromiseIsCountedAsRecords(t *testing.T) {
	open := parse(t, study.Vertical, `columns: [{name: x, kind: numeric, bounds: [0, 1], owner: a}, {name: y, kind: numeric, bounds: [0, 1], owner: b}, {name: z, kind: numeric, bounds: [0, 1], owner: c}]
sketches: [{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 1}}]
privacy: {mechanism: none}
analyses: [{kind: correlation}]
`)
	due := made{study: open}.spec(t, 1).Due(nil)
	if len(due) != 1 || due[0].Unit != dp.Record || due[0].Mechanism != dp.None {
		t.Fatalf("due is %+v", due)
	}
	if _, err := ledger.Append(nil, due[0]); err != nil {
		t.Errorf("the ledger does not take it: %v", err)
	}
}

// noEntropy is a reader from which nothing may be drawn.
type noEntropy struct{ t *testing.T }

func (n noEntropy) Read(b []byte) (int, error) {
	n.t.Error("entropy was drawn")
	return len(b), nil
}

// A stored release is found: no data are read and nothing is drawn.
func TestStoredIsFound(t *testing.T) {
	for _, m := range all(t) {
		t.Run(m.name, func(t *testing.T) {
			w := m.world(t)
			if err := m.run(t, w, 1); err != nil {
				t.Fatal(err)
			}
			w.calls = nil
			spec := m.spec(t, 2)
			spec.Entropy = noEntropy{t}
			if _, err := job.Run(t.Context(), spec, w); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(w.calls, " "); got != "stored forget" {
				t.Errorf("calls %s", got)
			}
			spec.Plans = nil // Find needs no plans
			out, found, err := job.Find(spec, w)
			if err != nil || !found || !bytes.Equal(header(m, out), w.shown[0]) {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}

// A release that is not stored, or is void, is not found, and nothing changes.
func TestOthersAreNotFound(t *testing.T) {
	for _, m := range all(t) {
		w := m.world(t)
		before := w.saved
		if _, found, err := job.Find(m.spec(t, 1), w); found || err != nil || w.saved != before {
			t.Errorf("%s: found %v, %v", m.name, found, err)
		}
		if got := strings.Join(w.calls, " "); got != "stored" {
			t.Errorf("%s: calls %s", m.name, got)
		}
		failed := errors.New("no disk")
		w.fail = func(string, bool) error { return failed }
		if _, _, err := job.Find(m.spec(t, 1), w); err != failed {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// The stored release is the one sent: the header names the bytes, which are the exact sketch plus
// noise.
func TestStoredIsAsItsHeaderSays(t *testing.T) {
	for _, m := range all(t) {
		if m.query {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			w := m.world(t)
			if err := m.run(t, w, 1); err != nil {
				t.Fatal(err)
			}
			e, err := wire.DecodeEnvelope(w.saved.Header())
			if err != nil {
				t.Fatal(err)
			}
			header, err := wire.DecodeRelease(e.Payload)
			if err != nil {
				t.Fatal(err)
			}
			if err := release.CheckHeader(m.study, 0, header); err != nil {
				t.Error(err)
			}
			spec := m.spec(t, 2)
			for i, data := range w.saved.Sketches() {
				if chunk := header.Sketches[i].Chunks[0]; chunk != protocol.Digest(sum(data)) {
					t.Errorf("sketch %d has another hash", i+1)
				}
				got, err := release.Decode(header.Sketches[i], bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				if m.study.Privacy.Mechanism == dp.RandomisedResponse || spec.Plans[i].Looks() {
					continue
				}
				b, err := spec.Plans[i].NewBuilder(spec.Keys, 1)
				if err != nil {
					t.Fatal(err)
				}
				if err := b.AddRead(w.ids, w.values); err != nil {
					t.Fatal(err)
				}
				if exact := b.Exact().Sketch; slices.Equal(exact.Data, got.Data) {
					t.Errorf("sketch %d has no noise", i+1)
				}
			}
		})
	}
}

// Until the steward has decided about a held sketch, nothing is spent, and the job remains to be
// done.
func TestUndecided(t *testing.T) {
	m := all(t)[3]
	w := m.world(t)
	w.decided = false
	for run := range 2 {
		if err := m.run(t, w, byte(run)); !errors.Is(err, job.ErrUndecided) {
			t.Fatalf("ended with %v", err)
		}
	}
	if len(w.entries) > 0 || w.saved != nil {
		t.Error("something was spent or stored")
	}
	w.decided = true
	if err := m.run(t, w, 3); err != nil {
		t.Fatal(err)
	}
	m.check(t, w)
}

// A sketch held without noise is never released if its noise is drawn into the values.
func TestHeldWithoutItsNoiseIsRefused(t *testing.T) {
	for _, m := range all(t)[5:] {
		w := m.world(t)
		w.decided = true
		w.held = []release.Exact{{}}
		err := m.run(t, w, 1)
		if err == nil || !strings.Contains(err.Error(), "before it is made") || w.saved != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// If the caps or the steward's rule refuse, nothing is spent or drawn.
func TestRefusals(t *testing.T) {
	refused := errors.New("the steward's rule")
	for _, m := range all(t) {
		for name, change := range map[string]func(*job.Spec){
			"caps": func(s *job.Spec) {
				s.Caps = ledger.Caps{Record: &dp.Budget{Epsilon: 1e-3, Delta: 1e-9}}
			},
			"rule": func(s *job.Spec) { s.Accept = func(int64) error { return refused } },
		} {
			if name == "rule" && m.study.Privacy.Mechanism == dp.RandomisedResponse {
				continue // its records are counted only when read, after the debit
			}
			t.Run(m.name+" "+name, func(t *testing.T) {
				w := m.world(t)
				before := len(w.entries)
				spec := m.spec(t, 1)
				change(&spec)
				_, err := job.Run(t.Context(), spec, w)
				var exceeded *ledger.Exceeded
				if !errors.Is(err, refused) && !errors.As(err, &exceeded) {
					t.Fatalf("ended with %v", err)
				}
				if exceeded != nil && m.query != (exceeded.Fits == nil) {
					t.Errorf("what would fit: %v", exceeded.Fits)
				}
				if len(w.entries) != before || w.saves > 0 || w.taken != nil {
					t.Error("something was spent or stored")
				}
			})
		}
	}
}

// A release that nobody would accept is refused before it is paid for.
func TestUselessReleaseIsNotPaidFor(t *testing.T) {
	for _, m := range all(t) {
		if m.query || m.study.Privacy.Mechanism == dp.RandomisedResponse || m.held {
			continue
		}
		w := m.world(t)
		before := len(w.entries)
		w.ids, w.values = nil, nil
		err := m.run(t, w, 1)
		if err == nil || !strings.Contains(err.Error(), "would refuse") || len(w.entries) != before {
			t.Errorf("%s: %v, %d debits", m.name, err, len(w.entries)-before)
		}
	}
}

// An impossible spec is refused before anything is paid for or read.
func TestImpossibleSpec(t *testing.T) {
	kinds := all(t)
	for name, one := range map[string]struct {
		of     made
		change func(*job.Spec)
	}{
		"no sketch":         {kinds[0], func(s *job.Spec) { s.Plans = nil }},
		"masks of nobody":   {kinds[1], func(s *job.Spec) { s.What = job.Study{Attempt: 1} }},
		"too many members":  {kinds[1], func(s *job.Spec) { s.What = job.Study{Attempt: 1, Pairs: pairs(t, 9)} }},
		"query of sketches": {kinds[4], func(s *job.Spec) { s.Plans = append(s.Plans, s.Plans...) }},
	} {
		w := one.of.world(t)
		spec := one.of.spec(t, 1)
		one.change(&spec)
		if _, err := job.Run(t.Context(), spec, w); err == nil || strings.Join(w.calls, " ") != "stored" {
			t.Errorf("%s: %v after %v", name, err, w.calls)
		}
	}
}

// A damaged look is reported as such, and nothing is spent.
func TestDamagedLook(t *testing.T) {
	m := all(t)[6]
	for _, data := range [][]byte{{1}, make([]byte, 16), bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 1}, 4), {}} {
		w := m.world(t)
		w.taken = data
		if err := m.run(t, w, 1); !errors.Is(err, job.ErrLook) || len(w.entries) > 0 {
			t.Errorf("%d bytes: %v", len(data), err)
		}
	}
}

// A stored release of another party, or a stored header that is no release, is not taken for this
// one.
func TestStrangeHeaderIsRefused(t *testing.T) {
	kinds := all(t)
	plain, query := kinds[0], kinds[4]
	w := plain.world(t)
	if err := plain.run(t, w, 1); err != nil {
		t.Fatal(err)
	}
	other := plain.spec(t, 2)
	other.Signer = protocol.Signer{}
	if _, err := job.Run(t.Context(), other, w); err == nil || !strings.Contains(err.Error(), "not from this party") {
		t.Error(err)
	}
	q := query.world(t)
	if err := query.run(t, q, 1); err != nil {
		t.Fatal(err)
	}
	second := query.spec(t, 2)
	second.What = job.Query{Number: 2, T2: protocol.Digest{1}}
	if _, err := job.Run(t.Context(), second, q); err == nil || !strings.Contains(err.Error(), "number 1") {
		t.Error(err)
	}
	q.saved = w.saved
	if err := query.run(t, q, 3); err == nil {
		t.Error("a release was taken for a query")
	}
}

// A rehearsal takes the same steps, but spends, stores and sends nothing.
func TestRehearsal(t *testing.T) {
	for _, m := range all(t) {
		if m.again {
			continue
		}
		for name, rehearse := range map[string]func(job.Spec, job.Data, func(job.Stage)) (job.Rehearsed, error){
			"drawn": func(s job.Spec, d job.Data, at func(job.Stage)) (job.Rehearsed, error) {
				return job.Rehearse(t.Context(), s, d, at)
			},
			"seen": func(s job.Spec, d job.Data, at func(job.Stage)) (job.Rehearsed, error) {
				return job.RehearseSeen(t.Context(), s, d, at)
			},
		} {
			t.Run(m.name+" "+name, func(t *testing.T) {
				w := m.world(t)
				var stages []string
				out, err := rehearse(m.spec(t, 1), w, func(s job.Stage) { stages = append(stages, string(s)) })
				if err != nil {
					t.Fatal(err)
				}
				described, err := out.Describe()
				if err != nil {
					t.Fatal(err)
				}
				for i, one := range described {
					if rows, cols := out.Plans[i].Shape(out.Records.Count); one.Rows != rows || one.Cols != cols {
						t.Errorf("sketch %d is %d × %d", i+1, one.Rows, one.Cols)
					}
				}
				if got := strings.Join(stages, " "); got != "projected noised" {
					t.Error(got)
				}
				if w.saved != nil || len(w.entries) > 0 || w.taken != nil {
					t.Error("something was spent or stored")
				}
			})
		}
	}
}

// Without entropy no stage that needs some is reached.
func TestNoEntropy(t *testing.T) {
	for _, m := range all(t) {
		w := m.world(t)
		spec := m.spec(t, 1)
		spec.Entropy = strings.NewReader("")
		if _, err := job.Run(t.Context(), spec, w); !errors.Is(err, io.EOF) || w.saves > 0 {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func sum(data []byte) [32]byte { return sha256.Sum256(data[:min(len(data), protocol.ChunkSize)]) }

// A release whose header could be larger than others read, or a sketch larger than they accept, is
// refused before its numbers are made.
func TestFits(t *testing.T) {
	var columns strings.Builder
	for i := range 8 {
		fmt.Fprintf(&columns, "  - {name: x%d, kind: numeric, bounds: [0, 1]}\n", i)
	}
	m := made{study: parse(t, study.Horizontal, "columns:\n"+columns.String()+`sketches: [{side: records, family: identity}, {side: records, family: identity}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: k-means, clusters: 2}]
`)}
	spec := m.spec(t, 1)
	const bytes = 8 * 8                                                      // of a record in a sketch of the greatest width
	const inChunks = protocol.MaxPayload / (2 + 32) * protocol.ChunkSize / 2 // bytes of a sketch if a header has two
	for _, one := range []struct {
		records int64
		says    string
	}{
		{0, "release of 0 records"},
		{1, ""},
		{inChunks / bytes * 99 / 100, ""},
		{inChunks / bytes * 101 / 100, "payload of"},
		{release.MaxBytes / bytes, "payload of"},
		{release.MaxBytes/bytes + 1, "sketch 1 has"},
	} {
		err := spec.Fits(one.records)
		if one.says == "" && err != nil || one.says != "" && (err == nil || !strings.Contains(err.Error(), one.says)) {
			t.Errorf("%d records: %v", one.records, err)
		}
	}
}
