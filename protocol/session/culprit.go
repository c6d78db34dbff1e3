package session

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cosketch/cosketch/protocol"
)

// Standing says how well a culprit's fault is established.
type Standing string

const (
	Proved  Standing = "proved"  // anybody can check it, from what the culprit signed
	Claimed Standing = "claimed" // by the aggregator: what it did not receive, or what fits a board other than its own
	Seen    Standing = "seen"    // by this node, in what the culprit sent it
)

// Culprit names who is to blame for the end of an attempt or of the study, if anybody is.
type Culprit struct {
	Node     protocol.PeerID
	Standing Standing
	Kind     protocol.Kind // the message that is wrong or missing; empty for a missing approval or release
	Attempt  uint32        // 0 if it is not about an attempt
	Err      error         // what is wrong
}

// culprits lists those of the board, in its order, then those of this node's failure.
func (v *view) culprits(failure error) (out []Culprit) {
	add := func(c Culprit) {
		known := func(d Culprit) bool { return d.Node == c.Node && d.Kind == c.Kind && d.Attempt == c.Attempt }
		if !slices.ContainsFunc(out, known) {
			out = append(out, c)
		}
	}
	for _, r := range v.blame() {
		standing := Claimed
		if r.Proved {
			standing = Proved
		}
		c := Culprit{Node: r.Member, Standing: standing, Err: r.Err}
		var f *protocol.Fault
		if errors.As(r.Err, &f) {
			c.Kind, c.Attempt, c.Err = f.Kind, f.Attempt, f.Err
		}
		add(c)
	}
	if v.stop != nil {
		for _, id := range v.stop.Missing {
			c := Culprit{Node: id, Standing: Claimed, Err: ErrNotReceived}
			if a := v.current(); a != nil && v.certified() == nil {
				c.Kind, c.Attempt = a.round(), a.number
			}
			add(c)
		}
	}
	var stopped *StoppedError // its faults are already on the board
	var struck *StruckError
	var f *protocol.Fault
	if errors.As(failure, &f) && !errors.As(failure, &struck) && !errors.As(failure, &stopped) {
		add(Culprit{Node: f.Culprit, Standing: Seen, Kind: f.Kind, Attempt: f.Attempt, Err: cmp.Or(f.Err, failure)})
	}
	return out
}
