//go:build unix

package node_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

// bits is a study of one bit per party under randomised response.
var bits = terms{
	columns:  "[{name: x, kind: binary, owner: a}, {name: y, kind: binary, owner: b}, {name: z, kind: binary, owner: c}]",
	sketches: "[{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 1}}]",
	privacy:  "{unit: attribute, mechanism: randomised-response, epsilon: 1}",
	analyses: "[{kind: correlation}, {kind: inner-product}]",
}

// coins is a data file of one binary column.
func coins(records int) func(int) string {
	return func(party int) string {
		var s strings.Builder
		fmt.Fprintf(&s, "id,%c\n", "xyz"[party])
		for i := range records {
			fmt.Fprintf(&s, "ID%d,%d\n", i, i>>party&1)
		}
		return s.String()
	}
}

// diary records, in order, a party's events and the entropy it takes.
type diary struct {
	io.Reader
	mu     sync.Mutex
	events []string
}

func (j *diary) note(event string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, event)
}

func (j *diary) Read(p []byte) (int, error) {
	j.note(fmt.Sprintf("entropy %d", len(p)))
	return j.Reader.Read(p)
}

// noting is a store that records when a first look is stored.
type noting struct {
	*store.Store
	in *diary
}

func (n noting) PutLook(study protocol.StudyID, data []byte) error {
	err := n.Store.PutLook(study, data)
	n.in.note("look stored")
	return err
}

// sinceDebit runs a study to its end and returns party a's diary from the debit on.
func (b *bench) sinceDebit() []string {
	b.t.Helper()
	stop := b.serve()
	defer stop()
	ctx := b.context()
	others := make(chan struct{})
	go func() { defer close(others); b.runAll(ctx, "b", "c") }()
	st := b.open("a")
	j := &diary{Reader: rand.Reader}
	o := partyOptions(noting{st, j}, b.path("a.yaml"), func(p event.Progress) {
		switch p.Milestone {
		case event.Debited, event.Projected, event.Stored:
			entries, err := st.Ledger()
			if err != nil {
				b.t.Error(err)
			}
			j.note(fmt.Sprintf("%s with %d debits", p.Milestone, len(entries)))
		}
	}, b.logger())
	o.Entropy = j
	p, err := party.New(o)
	check(b.t, err)
	check(b.t, p.Run(ctx, b.study.ID))
	check(b.t, p.Close())
	check(b.t, st.Close())
	<-others
	stop()
	b.verify(nil)
	debited := slices.Index(j.events, "debited with 1 debits")
	if debited < 0 {
		b.t.Fatalf("no debit in %v", j.events)
	}
	return slices.Compact(j.events[debited:]) // noise takes several keys
}

// Under randomised response the values are noised as they are read. So the debit is durable before
// the key of the flips is drawn, and the key is drawn before the data are projected. Likewise for
// the noise of a first look, which is stored before the data are projected with it.
func TestWhatIsDrawnEarlyIsDebitedFirst(t *testing.T) {
	for name, w := range map[string]struct {
		terms
		data func(int) string
		want []string
	}{
		// The last entropy before the debit is for its salt; what follows are keys of noise.
		"randomised response": {bits, coins(60), []string{"debited with 1 debits", "entropy 32", "projected with 1 debits", "stored with 1 debits"}},
		"first look":          {ownSketch, uniform(50), []string{"debited with 1 debits", "entropy 32", "look stored", "projected with 1 debits", "entropy 32", "stored with 1 debits"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := newBench(t, w.terms, w.data).sinceDebit(); !slices.Equal(got, w.want) {
				t.Errorf("after the debit: %v, want %v", got, w.want)
			}
		})
	}
}

// A party killed around the debit of randomised response debits once and releases once.
func TestRandomisedResponseSurvivesSIGKILL(t *testing.T) {
	for _, at := range []string{"debited", "projected", "stored"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, bits, coins(60))
			die, finish := b.killing()
			die(at)
			before := b.stored()
			if (before != nil) != (at == "stored") {
				t.Errorf("killed when %s, a release is stored: %v", at, before != nil)
			}
			finish(before)
		})
	}
}

// A released sketch is described in the terms of its mechanism.
func TestInspectRandomisedResponse(t *testing.T) {
	b := newBench(t, bits, coins(60))
	stop := b.serve()
	defer stop()
	b.runAll(b.context(), b.parties...)
	st, err := store.Open(b.path("a"), store.Party, store.Options{ReadOnly: true})
	check(t, err)
	defer st.Close()
	r, err := local.Inspect(st, b.study)
	check(t, err)
	one := r.Sketches[0]
	if !r.Intact || one.Mechanism != "randomised-response" || one.Noise != "each bit is flipped with probability 0.269" || one.Variance == 0 || one.Exposure != "" {
		t.Errorf("%+v", one)
	}
}
