package source

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/store/storetest"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// noiseless is a study of one numeric column without noise, distinguished by its name.
func noiseless(t *testing.T, name, sketches string) (*study.Study, *Dataset) {
	t.Helper()
	example, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := bytes.Cut(example.Source, []byte("columns:"))
	text := string(head) + "columns: [{name: income, kind: numeric, bounds: [0, 100]}]\nbits: 12\nsketches: [" + sketches +
		"]\nprivacy: {mechanism: none}\nanalyses: [{kind: inner-product}]\n# " + name + "\n"
	s, err := file.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	src := &Dataset{Data: config.Dataset{Name: "patients"}}
	for i := range s.Sketches {
		p, err := release.For(s, 0, i)
		if err != nil {
			t.Fatal(err)
		}
		src.Plans = append(src.Plans, p)
	}
	return s, src
}

func signSketches(ks ...int) string {
	var out []string
	for _, k := range ks {
		out = append(out, fmt.Sprintf("{side: columns, family: rademacher, k: %d, helpers: {ones: 0}}", k))
	}
	return strings.Join(out, ", ")
}

// Releases without noise add up over the sketches of a study, and over studies: each of these is
// small compared with the data, and together they are the data.
func TestNoiselessReleasesAddUp(t *testing.T) {
	st := storetest.New(t, store.Party)
	var entries []ledger.Entry
	const records = 800
	refused := func(name, sketches string) error {
		s, src := noiseless(t, name, sketches)
		h := &Source{Env: node.PartyEnv{Now: func() protocol.Instant { return 1000 }}, Store: st, Signer: protocoltest.Identity("party 0"), Study: s}
		refusal, err := h.Permitted(src, records, entries)
		if err != nil {
			t.Fatal(err)
		}
		return refusal
	}
	released := func(name, sketches, data string, keep bool) {
		s, src := noiseless(t, name, sketches)
		if keep {
			if err := st.PutStudy(s.ID, s.Source, 0); err != nil {
				t.Fatal(err)
			}
		}
		for i := range src.Plans {
			next := ledger.Entry{Dataset: data, Study: s.ID, Aggregator: s.Aggregator.ID, Sketch: i, Unit: dp.Record, Attributes: 1, At: 1}.Promised(src.Plans[i].Guarantee())
			var err error
			if entries, err = Chain(entries, next); err != nil {
				t.Fatal(err)
			}
		}
	}
	holds := func(what string, err error, want string) {
		t.Helper()
		var refusal *node.ReconstructionError
		if ok := errors.As(err, &refusal); ok != (want != "") || (ok && !strings.Contains(refusal.Reason, want)) || (!ok && err != nil) {
			t.Errorf("%s: %v, want a refusal with %q", what, err, want)
		}
	}
	holds("a tenth", refused("one", signSketches(80)), "")
	holds("a tenth in two sketches", refused("two", signSketches(50, 30)), "")
	holds("more in two", refused("more", signSketches(50, 31)), "all sketches together")

	released("first", signSketches(30, 10), "patients", true)
	holds("the rest of a tenth", refused("rest", signSketches(40)), "")
	holds("beyond it", refused("beyond", signSketches(41)), "together with earlier releases")
	holds("the first study itself, again", refused("first", signSketches(30, 10)), "")

	released("elsewhere", signSketches(80), "others", true)
	holds("other data", refused("rest", signSketches(40)), "")
	released("forgotten", signSketches(1), "patients", false)
	holds("after a study that is not here", refused("one", signSketches(1)), "together with earlier releases")
}
