package session

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/agree"
)

// What people can do if nodes disagree.
const (
	sameVersion = "run the same version of the software at both"
	otherBoard  = "one of them was shown another board, or misstates it: compare with the operator"
	otherSeed   = "its release does not fit the others: ask its steward what it runs"
	wrongSeed   = "it confirmed a seed that nobody else has, and has released nothing under it: ask its steward what it runs"
)

// disagrees reports what a sender and this node disagree on, with both values.
func (v *view) disagrees(sender protocol.PeerID, on protocol.Subject, what string, theirs, ours protocol.Digest, do string, kind error) error {
	return &protocol.Disagreement{
		On: on, Who: v.nameOf(sender), From: v.nameOf(v.self), What: what,
		Theirs: fmt.Sprintf("%x", theirs[:4]), Ours: fmt.Sprintf("%x", ours[:4]), Do: do, Err: kind,
	}
}

// otherMeaning reports that two programs read one file differently.
func (v *view) otherMeaning(sender protocol.PeerID, theirs protocol.Digest) error {
	return v.disagrees(sender, protocol.OnVersion, "meaning of the study file", theirs, v.study.Meaning, sameVersion, ErrMeaning)
}

// otherTranscript reports that a message of the agreement refers to messages other than the
// board's.
func (v *view) otherTranscript(sender protocol.PeerID, what string, theirs, ours protocol.Digest) error {
	return v.disagrees(sender, protocol.OnSeed, what, theirs, ours, otherBoard, agree.ErrTranscript)
}

// checkPrefix checks that the board a sender saw is a prefix of this board.
func (v *view) checkPrefix(sender protocol.PeerID, count uint64, chain protocol.Digest) error {
	if count <= v.count() && v.chains[count] == chain {
		return nil
	}
	return v.disagrees(sender, protocol.OnSeed, fmt.Sprintf("board of %d messages", count), chain, v.chains[min(count, v.count())], otherBoard, ErrBoards)
}

// unproved reports a confirmation under another seed. It includes the proof that this seed
// requires. The sender is a member, which releases nothing without the others' confirmations, or a
// newcomer.
func (v *view) unproved(sender protocol.PeerID, kind protocol.Kind, err error) error {
	var tag *agree.TagError
	if !errors.As(err, &tag) {
		return err
	}
	do := wrongSeed
	if kind == protocol.KindJoined {
		do = otherSeed
	}
	return v.disagrees(sender, protocol.OnSeed, "proof of the seed", tag.Got, tag.Want, do, agree.ErrConfirmTag)
}
