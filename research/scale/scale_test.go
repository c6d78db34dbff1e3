package scale

import (
	"io"
	"testing"

	"github.com/cosketch/cosketch/testnet/network"
)

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the programs")
	}
	dir := t.TempDir()
	if err := network.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	measured, err := Run(t.Context(), dir, []Size{{Parties: 2}, {Parties: 5}, {Parties: 2, Megabytes: 1, Records: true}, {Parties: 3, Megabytes: 1, Masked: true}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	small, large := measured[0], measured[1]
	if small.Parties != 2 || large.Parties != 5 || small.Agreement <= 0 || small.Whole < small.Agreement {
		t.Errorf("measured %+v", measured)
	}
	// A share envelope holds a ciphertext of more than a kilobyte for each other member, and every
	// party reads all envelopes.
	if large.Sent < small.Sent+3000 || large.Received < small.Received+5*3000 {
		t.Errorf("sent %d and %d bytes, received %d and %d", small.Sent, large.Sent, small.Received, large.Received)
	}
	for _, heavy := range measured[2:] {
		if heavy.Sketch < 5e5 || heavy.Sketch > 4e6 || heavy.Disk < 2*heavy.Sketch || heavy.Sent < heavy.Sketch {
			t.Errorf("a release of a megabyte: %+v", heavy)
		}
	}
}

// Records gathered on the aggregator's disk give the same answers as records in memory, for three
// parties and for two joined ones, with real processes.
func TestPlayApart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the programs")
	}
	dir := t.TempDir()
	if err := network.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, join := range []bool{false, true} {
		steps, err := Apart{Records: 12_000, K: 16, Memory: 4, Party: 512, Join: join, Held: true}.Play(t.Context(), dir, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 7, true: 5}[join]; len(steps) != want {
			t.Errorf("steps %+v", steps)
		}
	}
}
