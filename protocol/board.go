package protocol

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Head is the aggregator's signed statement of the length and content of its board of a study.
// Parties keep the newest and refuse a board that does not extend it.
type Head struct {
	Study     StudyID
	Count     uint64 // envelopes on the board
	Chain     Digest // hash chain over their ids, zero when Count is 0
	Signature []byte
}

const headPrefix = "cosketch/1/head\x00"

func (h *Head) preimage() []byte {
	b := append([]byte(nil), headPrefix...)
	b = transcript.AppendField(b, h.Study[:])
	b = binary.BigEndian.AppendUint64(b, h.Count)
	return transcript.AppendField(b, h.Chain[:])
}

// ExtendChain returns the chain after one more envelope.
func ExtendChain(chain, id Digest) Digest {
	return Hash("board chain", chain[:], id[:])
}

// SignHead signs a board's state.
func (s Signer) SignHead(study StudyID, count uint64, chain Digest) Head {
	h := Head{Study: study, Count: count, Chain: chain}
	h.Signature = s.sign(h.preimage())
	return h
}

// VerifyHead checks that the aggregator signed the head.
func VerifyHead(h Head, aggregator PeerID) error {
	if !ed25519.Verify(aggregator[:], h.preimage(), h.Signature) {
		return fmt.Errorf("board head %d of study %s: %w", h.Count, h.Study.Short(), ErrSignature)
	}
	return nil
}
