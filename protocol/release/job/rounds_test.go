package job_test

import (
	"bytes"
	"errors"
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
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// inTwoRounds returns studies whose first round comes before the second, and between its sketches.
func inTwoRounds(t *testing.T) map[string]*study.Study {
	t.Helper()
	const promise = "rounds: 2\nprivacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}\n"
	const masked = "sum: masked\ncolluding: 1\n"
	codes := bounded + "sketches: [{side: moments, clip: 1, share: 3}, {side: codes, share: 7}]\n" + promise + "analyses: [{kind: k-means, clusters: 2}]\n"
	look := bounded + "sketches: [{side: moments, products: false, clip: own}, {side: look}, {side: moments, clip: own}, {side: counts, tables: [{of: [{column: x, bins: 4}]}]}]\n" + promise + "analyses: [{kind: mean}, {kind: correlation}, {kind: table}]\n"
	return map[string]*study.Study{
		"codes": parse(t, study.Horizontal, codes), "masked codes": parse(t, study.Horizontal, codes+masked),
		"masked look": parse(t, study.Horizontal, look+masked),
	}
}

// ofRound returns the spec of a round; for the second round, before is the first.
func ofRound(t *testing.T, s *study.Study, before *protocol.First, run byte) job.Spec {
	t.Helper()
	var members agree.Pairs
	if s.Masked() {
		members = pairs(t, 3)
	}
	first := job.First{Attempt: 2, T2: protocol.Digest{2}, Pairs: members, Round: 1}
	if before != nil {
		s = s.WithBasis(s.PlaceholderBasis())
	}
	spec := made{study: s}.spec(t, run)
	spec.What = first
	if before != nil {
		spec.What = job.Study{Attempt: first.Attempt, T2: first.T2, Pairs: first.Pairs, Round: first.Round, Before: before}
	}
	spec.Plans = slices.DeleteFunc(spec.Plans, func(p release.Plan) bool { return s.SecondRound(p.Index) != (before != nil) })
	return spec
}

func opened(t *testing.T, w *world, kind protocol.Kind) protocol.Envelope {
	t.Helper()
	e, err := wire.DecodeEnvelope(w.saved.Header())
	if err != nil || e.Kind != kind || e.Attempt != 2 {
		t.Fatalf("a %s of attempt %d, want %s: %v", e.Kind, e.Attempt, kind, err)
	}
	return e
}

// Each round is a release of its own: paid for by its sketches, made in the same order, and stored.
// The second repeats the first unchanged, with each sketch in its place.
func TestTwoRounds(t *testing.T) {
	for name, s := range inTwoRounds(t) {
		t.Run(name, func(t *testing.T) {
			w := made{study: s}.world(t)
			const calls = "stored exact (projected) debit (debited) vouch (vouched) (noised) save (saved) forget"
			if _, err := job.Run(t.Context(), ofRound(t, s, nil, 1), w); err != nil || strings.Join(w.calls, " ") != calls {
				t.Fatalf("%v: %v", w.calls, err)
			}
			first, err := wire.DecodeFirst(opened(t, w, protocol.KindFirst).Payload)
			if err != nil {
				t.Fatal(err)
			}
			if err := release.CheckFirst(s, 0, first); err != nil || first.Records != 40 || first.T2 != (protocol.Digest{2}) {
				t.Errorf("of %d records: %v", first.Records, err)
			}
			if !slices.EqualFunc(first.Data, w.saved.Sketches(), bytes.Equal) {
				t.Error("what is stored is not what leaves")
			}
			paid := len(w.entries)
			if paid != len(first.Sketches) || w.entries[0].Round != 1 {
				t.Errorf("%d debits of %d sketches, round %d", paid, len(first.Sketches), w.entries[0].Round)
			}
			w.calls = nil
			if _, found, err := job.Find(ofRound(t, s, nil, 2), w); !found || err != nil {
				t.Errorf("the first round is not found: %v", err)
			}
			if _, err := job.Run(t.Context(), ofRound(t, s, &first, 3), w); err == nil || !strings.Contains(err.Error(), "not from this party") {
				t.Errorf("a first round was taken for a release: %v", err)
			}

			w.saved, w.saves, w.calls = nil, 0, nil
			if _, err := job.Run(t.Context(), ofRound(t, s, &first, 4), w); err != nil || strings.Join(w.calls, " ") != calls {
				t.Fatalf("%v: %v", w.calls, err)
			}
			header, err := wire.DecodeRelease(opened(t, w, protocol.KindRelease).Payload)
			if err != nil {
				t.Fatal(err)
			}
			lit := s.WithBasis(s.PlaceholderBasis())
			if err := release.CheckHeader(lit, 0, header); err != nil || header.Records != 40 || header.T2 != first.T2 {
				t.Errorf("of %d records: %v", header.Records, err)
			}
			if len(w.entries)-paid != len(s.Sketches)-len(first.Sketches) {
				t.Errorf("%d debits of the second round", len(w.entries)-paid)
			}
			at := 0
			for i := range s.Sketches {
				if lit.SecondRound(i) == (w.saved.Clipped()[i] == job.Uncounted) || w.saved.Orders()[i] != nil {
					t.Errorf("sketch %d: %d records were cut", i+1, w.saved.Clipped()[i])
				}
				if lit.SecondRound(i) {
					continue
				}
				if !bytes.Equal(w.saved.Sketches()[i], first.Data[at]) || !slices.Equal(header.Sketches[i].Chunks, first.Sketches[at].Chunks) {
					t.Errorf("sketch %d is not that of the first round", i+1)
				}
				at++
			}
		})
	}
}

// A round cannot be made of the other one's sketches, nor the second without the first.
func TestRoundsAreKeptApart(t *testing.T) {
	plain := all(t)[0]
	for name, s := range inTwoRounds(t) {
		first, second := ofRound(t, s, nil, 1), ofRound(t, s, &protocol.First{}, 1)
		alone := second
		what := second.What.(job.Study)
		what.Before = nil
		alone.What = what
		other := plain.spec(t, 1)
		other.What = job.Study{Attempt: 1, Before: &protocol.First{}}
		mixed := second
		mixed.Plans = first.Plans
		early := first
		early.Plans = second.Plans
		for what, spec := range map[string]job.Spec{"the second alone": alone, "a second of one": other, "a first as the second": mixed, "a second as the first": early} {
			w := plain.world(t)
			if _, err := job.Run(t.Context(), spec, w); err == nil || strings.Join(w.calls, " ") != "stored" {
				t.Errorf("%s, %s: %v after %v", name, what, err, w.calls)
			}
		}
	}
}

// Under masked sums a first round of an earlier attempt is void, and is drawn and paid for again.
func TestVoidFirstRound(t *testing.T) {
	for name, s := range inTwoRounds(t) {
		w := made{study: s}.world(t)
		spec := ofRound(t, s, nil, 1)
		if _, err := job.Run(t.Context(), spec, w); err != nil {
			t.Fatal(err)
		}
		before := w.saved
		what := spec.What.(job.First)
		what.Attempt, what.Round = 3, 2
		spec.What = what
		if _, err := job.Run(t.Context(), spec, w); err != nil {
			t.Fatal(err)
		}
		if again := w.saved != before; again != s.Masked() || (w.drops == 1) != again || (len(w.entries) == 2*len(spec.Plans)) != again {
			t.Errorf("%s: drawn again: %v, %d debits", name, again, len(w.entries))
		}
	}
}

// A first round is refused if one of its sketches, or all together, are larger than what others
// read.
func TestFirstRoundFits(t *testing.T) {
	for _, c := range []struct {
		sketches string
		ok       bool
	}{
		{"{side: moments, clip: 1}, {side: codes}, {side: counts, tables: [{of: [{column: x, bins: 300}, {column: y, bins: 300}]}]}", true},
		{"{side: moments, clip: 1}, {side: codes}, {side: counts, tables: [{of: [{column: x, bins: 400}, {column: y, bins: 400}]}]}", false},
		{"{side: moments, clip: 1}, {side: codes}, {side: counts, tables: [{of: [{column: x, bins: 300}, {column: y, bins: 300}]}]}, {side: counts, tables: [{of: [{column: x, bins: 301}, {column: y, bins: 300}]}]}", false},
	} {
		s := parse(t, study.Horizontal, bounded+"sketches: ["+c.sketches+"]\nrounds: 2\nprivacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}\nanalyses: [{kind: k-means, clusters: 2}, {kind: table}]\n")
		err := ofRound(t, s, nil, 1).Fits(40)
		var size *job.SizeError
		if c.ok != (err == nil) || err != nil && (!errors.As(err, &size) || size.Records != 40 || errors.Unwrap(size) == nil) {
			t.Errorf("%s: %v", c.sketches, err)
		}
	}
}

// A rehearsal ends if its data, keys or entropy fail at any step, or if what is held does not
// match, and does not reach the next stage.
func TestRehearsalFails(t *testing.T) {
	failed := errors.New("the disk is gone")
	for _, m := range all(t) {
		rehearse := func(change func(*job.Spec, *world)) (string, error) {
			w, spec, stages := m.world(t), m.spec(t, 1), ""
			w.decided = true
			change(&spec, w)
			_, err := job.RehearseSeen(t.Context(), spec, w, func(s job.Stage) { stages += string(s) + " " })
			return stages, err
		}
		for _, call := range []string{"look", "exact"} {
			looked := m.name == "first look"
			stages, err := rehearse(func(_ *job.Spec, w *world) {
				w.fail = func(name string, _ bool) error {
					if name == call {
						return failed
					}
					return nil
				}
			})
			if stages != "" && call == "exact" || errors.Is(err, failed) != (call == "exact" || looked) {
				t.Errorf("%s: %s failed: %v after %s", m.name, call, err, stages)
			}
		}
		for reads := 0; ; reads++ {
			if _, err := rehearse(func(s *job.Spec, _ *world) { s.Entropy = &spent{s.Entropy, reads} }); err == nil {
				if reads == 0 {
					t.Errorf("%s: a rehearsal without entropy", m.name)
				}
				break
			} else if !errors.Is(err, errSpent) {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		if !m.held {
			continue
		}
		for name, change := range map[string]func(*job.Spec, *world){
			"too few sketches": func(_ *job.Spec, w *world) { w.held = w.held[:1] },
			"too few ids":      func(_ *job.Spec, w *world) { w.ids = w.ids[1:] },
		} {
			if stages, err := rehearse(change); err == nil || stages != "" {
				t.Errorf("%s: %v after %q", name, err, stages)
			}
		}
	}
}

// Reserved budget counts against the caps. If it cannot be determined, nothing is spent.
func TestKeptIsCounted(t *testing.T) {
	m := all(t)[1]
	spec := m.spec(t, 1)
	budget, err := m.study.Privacy.Guarantee()
	if err != nil {
		t.Fatal(err)
	}
	whole := budget.Loss().Epsilon(1e-6)
	spec.Caps = ledger.Caps{Record: &dp.Budget{Epsilon: whole * 1.01, Delta: 1e-6}}
	if _, err := spec.Debits(nil); err != nil {
		t.Fatal(err)
	}
	spec.Kept = func([]ledger.Entry) ([]ledger.Entry, error) { return spec.Due(nil), nil }
	var exceeded *ledger.Exceeded
	if _, err := spec.Debits(nil); !errors.As(err, &exceeded) || exceeded.Kept <= 0 {
		t.Errorf("with as much kept: %v", err)
	}
	unknown := errors.New("not known")
	spec.Kept = func([]ledger.Entry) ([]ledger.Entry, error) { return nil, unknown }
	w := m.world(t)
	if _, err := job.Run(t.Context(), spec, w); !errors.Is(err, unknown) || len(w.entries) > 0 {
		t.Errorf("with what is kept unknown: %v, %d debits", err, len(w.entries))
	}
}

// fewKeys provides a seed's keys until that many were derived.
type fewKeys struct {
	seed.Keys
	left int
}

var errNoKey = errors.New("the keys are gone")

func (k *fewKeys) Derive(label seed.Label) ([32]byte, error) {
	if k.left--; k.left < 0 {
		return [32]byte{}, errNoKey
	}
	return k.Keys.Derive(label)
}

// If keys run out at any point, nothing is stored.
func TestKeysGiveOut(t *testing.T) {
	kinds := all(t)
	kinds = append(kinds, made{name: "published", study: parse(t, study.Horizontal, bounded+`sketches: [{side: records, family: sparse, k: 8, s: 1, matrix: public}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: k-means, clusters: 2}]
`)})
	for _, m := range kinds {
		needed := 0
		for ; ; needed++ {
			w := m.world(t)
			before, spec := w.saves, m.spec(t, 1)
			spec.Keys = &fewKeys{spec.Keys, needed}
			_, err := job.Run(t.Context(), spec, w)
			if err == nil {
				break
			}
			if !errors.Is(err, errNoKey) || w.saves != before {
				t.Fatalf("%s: after %d keys: stored %d times, %v", m.name, needed, w.saves, err)
			}
		}
		w := m.world(t)
		spec := m.spec(t, 1)
		keys := &fewKeys{spec.Keys, 100}
		spec.Keys = keys
		if _, err := job.Run(t.Context(), spec, w); err != nil || 100-keys.left != needed {
			t.Errorf("%s: done with %d keys, and it takes %d: %v", m.name, needed, 100-keys.left, err)
		}
	}
}

// A look is taken only for the sketches that need one; the others are made beside them.
func TestLooksBesideOthers(t *testing.T) {
	m := made{study: parse(t, study.Horizontal, bounded+`sketches: [{side: counts, tables: [{of: [{column: x, bins: 4}]}]}, {side: moments, clip: own, standardise: own}, {side: cells, L: 1, clip: 1}, {side: moments, clip: 2, standardise: own}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}, {kind: correlation}, {kind: table}, {kind: k-means, clusters: 2}]
`)}
	w := m.world(t)
	if err := m.run(t, w, 1); err != nil {
		t.Fatal(err)
	}
	m.check(t, w)
	w = m.world(t)
	w.fail = func(call string, done bool) error {
		if call == "exact" {
			return errNoKey
		}
		return nil
	}
	if err := m.run(t, w, 1); !errors.Is(err, errNoKey) {
		t.Fatal(err)
	}
	spec := m.spec(t, 1)
	after, err := job.After(spec.Plans, w.taken)
	if err != nil {
		t.Fatal(err)
	}
	moves, err := release.DecodeLook(w.taken)
	if err != nil {
		t.Fatal(err)
	}
	if want := spec.Plans[1].Looked() + spec.Plans[3].Looked(); len(moves) != want {
		t.Errorf("%d moves, want %d", len(moves), want)
	}
	for i, plan := range after {
		if plan.Looks() != (i%2 == 1) || plan.Clip != spec.Plans[i].Clip {
			t.Errorf("sketch %d is another one", i+1)
		}
		if _, err := plan.NewBuilder(spec.Keys, 1); err != nil {
			t.Errorf("sketch %d: %v", i+1, err)
		}
	}
	for _, look := range [][]byte{w.taken[:len(w.taken)-16], append(slices.Clone(w.taken), w.taken[:16]...), w.taken[:16], nil} {
		if _, err := job.After(spec.Plans, look); err == nil {
			t.Errorf("a look of %d bytes is taken for one of %d", len(look), len(w.taken))
		}
	}
	for _, call := range []string{"taken look", "debit", "vouch", "exact", "save", "forget"} { // calls of a run that continues from the look
		w.calls = nil
		w.fail = func(name string, _ bool) error {
			if name == call {
				return errNoKey
			}
			return nil
		}
		if err := m.run(t, w, 1); !errors.Is(err, errNoKey) || w.calls[len(w.calls)-1] != call {
			t.Errorf("%s failed: %v after %v", call, err, w.calls)
		}
	}
	w.fail = nil
	if err := m.run(t, w, 2); err != nil {
		t.Fatal(err)
	}
	m.check(t, w)
}
