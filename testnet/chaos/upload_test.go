package chaos

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/steward"
)

// Sketches arrive completely although their connection is cut repeatedly. A cut costs a party at
// most the chunk in transfer.
func TestUploadSurvivesCuts(t *testing.T) {
	k := full.Or(1<<18, 1<<21)
	const cuts = 10
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dir := programsIn(t)
	scene, err := laboratories(k)
	must(t, err)
	s, between, err := relayed(ctx, dir, dir, scene)
	must(t, err)
	defer between.Close()
	id, err := s.propose(ctx)
	must(t, err)

	draft, err := s.Reopen(id)
	must(t, err)
	aggregator, err := s.Aggregator.Serve(ctx, s.port, nil)
	must(t, err)
	defer aggregator.Kill()
	parties := make([]*network.Started, len(s.Parties))
	for p, node := range s.Parties {
		parties[p], err = node.Start("run", id, "--wait", "2m")
		must(t, err)
		defer parties[p].Kill()
	}

	// The size of an upload is known beforehand: width 3, due to the noise.
	size := int64(len(parties) * 3 * 11 * k)
	rng := rand.New(rand.NewPCG(1, 1))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	made := 0
	for p := range parties {
		for done := false; !done; {
			select {
			case <-parties[p].Ended():
				must(t, parties[p].Err())
				done = true
			case <-ctx.Done():
				t.Fatalf("hangs: %s", parties[p].Says())
			case <-tick.C:
				if made < cuts && between.Up() > size*int64(made+1)/(cuts+1) {
					between.Cut()
					made++
					time.AfterFunc(time.Duration(rng.IntN(50))*time.Millisecond, between.Restore)
				}
			}
		}
	}
	must(t, s.check(ctx, id))
	total := int64(0)
	for _, party := range draft.Study.Parties {
		_, node := s.nodeNamed(party.Name)
		c, err := steward.ReadRelease(node, draft.Study)
		must(t, err)
		total += c.Bytes
	}
	if made < cuts {
		t.Errorf("only %d cuts during the upload", made)
	}
	if total != size {
		t.Errorf("the sketches have %d bytes together, the test thought %d", total, size)
	}
	const rest = 4 << 20 // agreement, reads of the board, framing, several handshakes per cut
	if most := total + int64(made*len(parties)*protocol.ChunkSize) + rest; between.Up() > most {
		t.Errorf("%d bytes went up for sketches of %d and %d cuts, at most %d were due", between.Up(), total, made, most)
	}
	t.Logf("%d bytes went up for sketches of %d bytes, cut %d times", between.Up(), total, made)
}
