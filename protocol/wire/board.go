package wire

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

// Requests of a party and the aggregator's replies, one exchange per stream.

// EncodePost asks to append envelopes to the board.
func EncodePost(envelopes []protocol.Envelope) []byte {
	m := &wirepb.PostRequest{}
	for _, e := range envelopes {
		m.Envelopes = append(m.Envelopes, envelopePB(e))
	}
	return marshal(m)
}

// DecodePost decodes what EncodePost wrote.
func DecodePost(b []byte) (out []protocol.Envelope, err error) {
	var m wirepb.PostRequest
	err = decode("post", b, &m, func() error {
		out, err = envelopes(m.GetEnvelopes())
		return err
	})
	return out, err
}

func envelopes(in []*wirepb.Envelope) ([]protocol.Envelope, error) {
	out := make([]protocol.Envelope, len(in))
	for i, m := range in {
		e, err := envelopeFrom(m)
		if err != nil {
			return nil, fmt.Errorf("envelope %d: %w", i, err)
		}
		out[i] = e
	}
	return out, nil
}

// Read asks for the envelopes on a study's board from an index on.
type Read struct {
	Study protocol.StudyID
	From  uint64
	Wait  uint32 // seconds to wait for something new
}

// EncodeRead encodes the request.
func EncodeRead(r Read) []byte {
	return marshal(&wirepb.ReadRequest{Study: r.Study[:], From: r.From, Wait: r.Wait})
}

// DecodeRead decodes what EncodeRead wrote.
func DecodeRead(b []byte) (r Read, err error) {
	var m wirepb.ReadRequest
	err = decode("read", b, &m, func() error {
		r.From, r.Wait = m.GetFrom(), m.GetWait()
		r.Study, err = bytes32[protocol.StudyID]("study", m.GetStudy())
		return err
	})
	return r, err
}

// BoardReply is a part of a board and the signed head of the whole board, or of the part of it that
// one reply can carry.
type BoardReply struct {
	From      uint64
	Envelopes []protocol.Envelope
	Head      protocol.Head // the reader sets Study: a reply answers one request
}

// EncodeBoardReply encodes the reply.
func EncodeBoardReply(r BoardReply) []byte {
	m := &wirepb.BoardReply{From: r.From, Head: headPB(r.Head)}
	for _, e := range r.Envelopes {
		m.Envelopes = append(m.Envelopes, envelopePB(e))
	}
	return marshal(m)
}

// DecodeBoardReply decodes what EncodeBoardReply wrote; it does not check signatures.
func DecodeBoardReply(b []byte, study protocol.StudyID) (r BoardReply, err error) {
	var m wirepb.BoardReply
	err = decode("board reply", b, &m, func() error {
		r.From = m.GetFrom()
		if r.Envelopes, err = envelopes(m.GetEnvelopes()); err != nil {
			return err
		}
		r.Head, err = headFrom(m.GetHead(), study)
		return err
	})
	return r, err
}

func headPB(h protocol.Head) *wirepb.Head {
	return &wirepb.Head{Count: h.Count, Chain: h.Chain[:], Signature: h.Signature}
}

func headFrom(m *wirepb.Head, study protocol.StudyID) (h protocol.Head, err error) {
	h = protocol.Head{Study: study, Count: m.GetCount(), Signature: m.GetSignature()}
	if len(h.Signature) != 64 {
		return h, fmt.Errorf("head signature of %d bytes, want 64", len(h.Signature))
	}
	h.Chain, err = bytes32[protocol.Digest]("chain", m.GetChain())
	return h, err
}

// EncodeHead returns the form in which a party stores the newest signed head.
func EncodeHead(h protocol.Head) []byte { return marshal(headPB(h)) }

// DecodeHead decodes what EncodeHead wrote.
func DecodeHead(b []byte, study protocol.StudyID) (h protocol.Head, err error) {
	var m wirepb.Head
	err = decode("head", b, &m, func() error {
		h, err = headFrom(&m, study)
		return err
	})
	return h, err
}
