package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/wire"
)

// ErrOtherSeed reports a release made under another agreement than the board's.
var ErrOtherSeed = errors.New("release was made under another agreement (T2 differs)")

// Release: with a certificate on the board, each member posts the header of its
// noised sketches, whose shapes the study fixes up to the record count.
func (v *view) release(e protocol.Verified) error {
	if err := v.memberTurn(e); err != nil {
		return err
	}
	if !v.complete(protocol.KindConfirm) {
		return fmt.Errorf("%w: confirmations are missing", ErrPremature)
	}
	r, err := wire.DecodeRelease(e.Payload())
	if err != nil {
		return err
	}
	if _, t2 := v.transcripts(); r.T2 != t2 {
		return ErrOtherSeed
	}
	party, _ := v.study.PartyIndex(e.Sender())
	if err := release.CheckHeader(v.study, party, r); err != nil {
		return err
	}
	v.releases[e.Sender()] = Header{ID: e.ID(), Party: v.study.Parties[party], Release: r}
	return nil
}
