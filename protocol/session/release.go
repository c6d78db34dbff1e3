package session

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
)

// ErrOtherSeed reports a release made under another agreement than the board's.
var ErrOtherSeed error = fail.OtherAgreement

// release admits a release header. With a certificate on the board, each member posts the header of
// its noised sketches, whose shapes the study fixes except for the record count.
func (v *view) release(e protocol.Verified) error {
	a := v.at(e.Attempt())
	if !v.contributor(e.Sender()) {
		return errNotMember
	}
	r, err := releaseOf(e)
	if err != nil {
		return err
	}
	if t2 := a.transcript(); r.T2 != t2 {
		return v.disagrees(e.Sender(), protocol.OnSeed, "agreement T2", r.T2, t2, otherBoard, ErrOtherSeed)
	}
	party, _ := v.study.PartyIndex(e.Sender())
	of, err := a.releaseChecks()
	if err != nil {
		return err
	}
	if err := of.Check(party, r); err != nil {
		return err
	}
	if err := a.repeats(e.Sender(), r); err != nil {
		return err
	}
	if err := v.checkPublished(a, r); err != nil {
		return err
	}
	if n := r.Sketches[0].Masked; n != 0 && n != len(a.members) {
		return fmt.Errorf("release masked for %d members, the attempt has %d", n, len(a.members))
	}
	a.releases[e.Sender()] = e
	return nil
}

// releaseChecks returns the checks for releases and first rounds, by what is known of the study now.
func (a *attempt) releaseChecks() (_ *release.Headers, err error) {
	if a.headers == nil {
		a.headers, err = release.HeadersOf(a.effectiveStudy())
	}
	return a.headers, err
}

// contributors lists those whose releases can be in a result, by raw public key: the members of the
// attempt that gave the seed, and the parties that have joined them.
func (v *view) contributors() []protocol.PeerID {
	var out []protocol.PeerID
	for _, p := range v.study.Parties {
		if v.contributor(p.ID) {
			out = append(out, p.ID)
		}
	}
	return out
}

func (v *view) contributor(id protocol.PeerID) bool {
	a := v.certified()
	if a == nil {
		return false
	}
	if a.interim != nil {
		return a.inInterim[id]
	}
	return a.member(id) || v.late[id] != nil && v.late[id].in
}
