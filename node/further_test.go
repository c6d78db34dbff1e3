package node_test

import (
	"encoding/binary"
	"testing"

	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
)

// If the further results of many parties exceed one answer, it holds the newest ones completely.
func TestMoreFurtherResultsThanOneAnswerHolds(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("agg")
	signer, err := protocol.NewSigner(st.Identity())
	check(t, err)
	var own []protocol.PartyDocument
	for range study.MaxParties {
		own = append(own, protocol.PartyDocument{Party: protocoltest.Identity("some party").ID()})
	}
	const made = 40
	size := 0
	for i := range made {
		f := protocol.Further{Study: b.study.ID, At: protocol.Instant(1000 + i), PerParty: own}
		f.Document.Hash = protocol.Hash("further", []byte{byte(i)})
		raw := signer.SignFurther(f).Encode()
		size = 4 + len(raw)
		check(t, st.PutResult(b.study.ID, filename.Further(f.Document.Hash), raw))
	}
	check(t, st.Close())
	stop := b.serve()
	defer stop()
	list, err := b.hostile("a").call(b.context(), calls.Further, b.study.ID[:])
	check(t, err)
	fits := calls.MostList / size
	if fits >= made || len(list) != fits*size {
		t.Fatalf("a list of %d bytes, want %d statements of %d", len(list), fits, size)
	}
	for i := made - fits; len(list) > 0; i++ {
		n := binary.BigEndian.Uint32(list)
		f, err := protocol.DecodeFurther(b.study.ID, b.study.Aggregator.ID, list[4:4+n])
		if err != nil || f.At != protocol.Instant(1000+i) {
			t.Fatalf("statement of %s, %v; want that of %d", f.At, err, 1000+i)
		}
		list = list[4+n:]
	}
}
