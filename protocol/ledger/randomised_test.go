package ledger

import (
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
)

// Randomised response is debited as pure ε: once for a value, and for all of a person's values
// together.
func TestRandomisedResponseCountsAsPure(t *testing.T) {
	g, err := dp.Promise(dp.RandomisedResponse, dp.Budget{Epsilon: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	e := Entry{Sequence: 1, Dataset: "d", Aggregator: protocol.PeerID{7}, Unit: dp.Attribute, Attributes: 4}.Promised(g)
	encoded, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeEntry(encoded); err != nil || back != e {
		t.Errorf("%+v came back as %+v (%v)", e, back, err)
	}
	for unit, want := range map[dp.Unit]dp.Epsilon{dp.Attribute: 0.5, dp.Record: 2} {
		if got := Total([]Entry{e}, Account{Dataset: "d", Unit: unit}); got.Epsilon != want || got.Unbounded {
			t.Errorf("unit %s: %v, want %v", unit, got, want)
		}
	}
	e.Delta = 1e-6
	if _, err := e.Encode(); err == nil {
		t.Error("a delta was accepted")
	}
}
