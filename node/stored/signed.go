package stored

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/show"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Signature is the aggregator's signed statement about a stored result document.
type Signature struct {
	Aggregator protocol.PeerID
	Envelope   protocol.Digest  // id of the signed message on the board; zero for a further result
	Document   protocol.Digest  // SHA-256 of the document
	At         protocol.Instant // of a further result; zero for one on the board
	Statement  []byte           // what is signed, with the signature, as protocol/SPEC.md has it
}

// ErrUnsigned reports a stored document that is not what the aggregator signed.
var ErrUnsigned error = fail.ResultChanged

// Signed finds and verifies the aggregator's signed statement of a document, on the stored board.
// It returns ErrUnsigned if there is none for these bytes.
func Signed(st *store.Store, s *study.Study, document []byte) (Signature, error) {
	board, err := Board(st, s.ID)
	if err != nil {
		return Signature{}, err
	}
	want := DocumentOf(document)
	for _, e := range slices.Backward(board) {
		if e.Kind() != protocol.KindResult || e.Sender() != s.Aggregator.ID || e.Study() != s.ID {
			continue
		}
		r, err := wire.DecodeResult(e.Payload())
		if err != nil {
			return Signature{}, fmt.Errorf("stored board: %w", err)
		}
		if r.Document == want {
			return Signature{Aggregator: e.Sender(), Envelope: e.ID(), Document: want.Hash, Statement: wire.EncodeEnvelope(e.Envelope())}, nil
		}
	}
	return Signature{}, ErrUnsigned
}

// Step is how far a party has come in a study, as an aggregator and its board can tell.
type Step string

// The steps of a party that takes part from the beginning, in order.
const (
	StepApproved  Step = "approved"
	StepCommitted Step = "committed"
	StepShared    Step = "shared"
	StepConfirmed Step = "confirmed"
	StepSketched  Step = "sketched" // it has described its noised sketches, by hash, under its signature
	StepReleased  Step = "released" // the sketches are completely at the aggregator
)

// Steps returns all six in order.
func Steps() []Step {
	return []Step{StepApproved, StepCommitted, StepShared, StepConfirmed, StepSketched, StepReleased}
}

// Taken returns, for every party in the study's order, the steps that the stored board shows. They
// are shown by the party's own messages; the last step, by a result that its release is in. A late
// party approves by asking for the seed and confirms by proving that it holds it; it neither
// commits nor shares.
func Taken(st *store.Store, s *study.Study) ([]map[Step]bool, error) {
	board, err := Board(st, s.ID)
	if err != nil {
		return nil, err
	}
	out, releases := NewTaken(len(s.Parties)), map[protocol.Digest]int{}
	for _, e := range board {
		if i, listed := s.PartyIndex(e.Sender()); listed && StepOf(e.Kind()) != "" {
			out[i][StepOf(e.Kind())] = true
			releases[e.ID()] = i
		}
		if e.Kind() != protocol.KindResult {
			continue
		}
		r, err := wire.DecodeResult(e.Payload())
		if err != nil {
			return nil, fmt.Errorf("a result on the stored board: %w", err)
		}
		for _, id := range r.Releases {
			if i, known := releases[id]; known {
				out[i][StepReleased] = true
			}
		}
	}
	return out, nil
}

// NewTaken makes empty sets of steps for a number of parties.
func NewTaken(parties int) []map[Step]bool {
	out := make([]map[Step]bool, parties)
	for i := range out {
		out[i] = map[Step]bool{}
	}
	return out
}

// StepOf is the step that a kind of message shows, or empty.
func StepOf(kind protocol.Kind) Step {
	switch kind {
	case protocol.KindApprove, protocol.KindJoin:
		return StepApproved
	case protocol.KindCommit:
		return StepCommitted
	case protocol.KindShare:
		return StepShared
	case protocol.KindConfirm, protocol.KindJoined:
		return StepConfirmed
	case protocol.KindRelease:
		return StepSketched
	}
	return ""
}

// BoardShown is the view of a study's board that accompanies a result.
func BoardShown(s *study.Study, taken []map[Step]bool) *show.Board {
	out := &show.Board{Study: s}
	for _, step := range Steps() {
		out.Steps = append(out.Steps, string(step))
	}
	for _, of := range taken {
		steps := map[string]bool{}
		for step := range of {
			steps[string(step)] = true
		}
		out.Taken = append(out.Taken, steps)
	}
	return out
}
