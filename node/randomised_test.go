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

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/store"
)

// bits is a study of one bit a party under randomised response.
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

// diary notes in their order what a party tells and how much entropy it takes.
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

// Under randomised response the values are noised as they are read, so the debit is
// durable before the key of the flips is drawn, and that before the data are projected.
func TestRandomisedResponseDebitsFirst(t *testing.T) {
	b := newBench(t, bits, coins(60))
	stop := b.serve()
	defer stop()
	ctx := b.context()
	others := make(chan struct{})
	go func() { defer close(others); b.runAll(ctx, "b", "c") }()
	st := b.open("a")
	j := &diary{Reader: rand.Reader}
	o := partyOptions(st, b.path("a.yaml"), nil, b.logger())
	o.Entropy = j
	o.Site = func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) }
	o.Observe = func(p node.Progress) {
		switch p.Milestone {
		case node.Debited, node.Projected, node.Stored:
			entries, err := st.Ledger()
			if err != nil {
				t.Error(err)
			}
			j.note(fmt.Sprintf("%s with %d debits", p.Milestone, len(entries)))
		}
	}
	p, err := node.NewParty(o)
	check(t, err)
	check(t, p.Run(ctx, b.study.ID))
	check(t, p.Close())
	check(t, st.Close())
	<-others
	debited := slices.Index(j.events, "debited with 1 debits")
	if debited < 0 {
		t.Fatalf("no debit in %v", j.events)
	}
	// The last entropy before the debit is its salt's; what follows is the key of the flips.
	want := []string{"debited with 1 debits", "entropy 32", "projected with 1 debits", "stored with 1 debits"}
	if got := j.events[debited:]; !slices.Equal(got, want) {
		t.Errorf("after the debit: %v, want %v", got, want)
	}
	stop()
	b.verify(nil)
}

// A party killed around the debit of randomised response debits once and releases once.
func TestRandomisedResponseSurvivesSIGKILL(t *testing.T) {
	for _, at := range []string{"debited", "projected", "stored"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, bits, coins(60))
			stop := b.serve()
			defer stop()
			ctx := b.context()
			others := make(chan struct{})
			go func() { defer close(others); b.runAll(ctx, "b", "c") }()
			if err := b.process(ctx, at); !killed(err) {
				t.Fatalf("the party was to die at %q, and ended with: %v", at, err)
			}
			before := b.stored()
			if (before != nil) != (at == "stored") {
				t.Errorf("killed when %s, a release is stored: %v", at, before != nil)
			}
			check(t, b.process(ctx, ""))
			<-others
			stop()
			b.verify(before)
		})
	}
}

// What party a released is inspected in the words of its mechanism.
func TestInspectRandomisedResponse(t *testing.T) {
	b := newBench(t, bits, coins(60))
	stop := b.serve()
	defer stop()
	b.runAll(b.context(), b.parties...)
	st, err := store.Open(b.path("a"), store.Party, store.Options{ReadOnly: true})
	check(t, err)
	defer st.Close()
	r, err := node.Inspect(st, b.study)
	check(t, err)
	one := r.Sketches[0]
	if !r.Intact || one.Mechanism != "randomised-response" || one.Noise != "each bit is flipped with probability 0.269" || one.Variance == 0 || one.Exposure != "" {
		t.Errorf("%+v", one)
	}
}
