package agree

import (
	"crypto/hpke"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/cosketch/cosketch/seed/transcript"
)

// If sealed texts travel apart from their share, the share has the root of a hash tree over them. A
// reader gets only the text sealed to it, and the path from this text to the root. So the number of
// bytes that each member reads grows with the number of members, not with its square. The sender's
// signature still covers every text.

// MaxWhole bounds a group whose shares contain their texts: such a share has at most 128 KiB.
const MaxWhole = 64

// Labels of the tree's hashes.
const (
	labelText = "cosketch/1/agree/text"
	labelNode = "cosketch/1/agree/node"
)

// ErrText is returned for a sealed text that does not match the root of its share.
var ErrText = errors.New("sealed text is not under the root of its share")

// Tree is the hash tree over the sealed texts of one share. Leaves are in roster order. The
// sender's own leaf, and those beyond the last member, are zeros.
type Tree struct {
	levels [][][32]byte // from the leaves up; the last level is the root
}

// Depth returns the length of a path in a group of n members.
func Depth(n int) int { return bits.Len(uint(n - 1)) }

// TextSize returns the size in bytes of one member's sealed text with its path, in a group of n.
func TextSize(n int) int { return SealedSize + 32*Depth(n) }

// NewTree returns the tree over the texts that a member sealed to the others. These are in roster
// order, without the sender.
func NewTree(sender int, sealed [][]byte) Tree {
	level := make([][32]byte, 1<<Depth(len(sealed)+1))
	for i, text := range sealed {
		level[recipient(sender, i)] = leaf(text)
	}
	t := Tree{[][][32]byte{level}}
	for len(level) > 1 {
		above := make([][32]byte, len(level)/2)
		for i := range above {
			above[i] = transcript.Hash(labelNode, level[2*i][:], level[2*i+1][:])
		}
		t.levels, level = append(t.levels, above), above
	}
	return t
}

func leaf(text []byte) [32]byte { return transcript.Hash(labelText, text) }

// Root returns the root, which the share has.
func (t Tree) Root() [32]byte { return t.levels[len(t.levels)-1][0] }

// Path returns the path from a member's text to the root: the sibling hash of each level.
func (t Tree) Path(member int) [][32]byte {
	path := make([][32]byte, 0, len(t.levels)-1)
	for _, level := range t.levels[:len(t.levels)-1] {
		path = append(path, level[member^1])
		member /= 2
	}
	return path
}

// under reports whether a text is a member's leaf under a root, by its path.
func under(root [32]byte, member int, text []byte, path [][32]byte) bool {
	at := leaf(text)
	for _, other := range path {
		if member%2 == 0 {
			at = transcript.Hash(labelNode, at[:], other[:])
		} else {
			at = transcript.Hash(labelNode, other[:], at[:])
		}
		member /= 2
	}
	return at == root
}

// place returns the index of a member in a sender's list of sealed texts, which omits the sender.
func place(sender, member int) int {
	if member > sender {
		return member - 1
	}
	return member
}

// TextFor returns the text that a sender sealed to a member.
func TextFor(sealed [][]byte, sender, member int) []byte { return sealed[place(sender, member)] }

// recipient is the inverse of place: it returns the member that the text at a place of a sender's
// list is sealed to.
func recipient(sender, place int) int {
	if place >= sender {
		return place + 1
	}
	return place
}

// Text is what one member sealed to another, with the path to the root of its share.
type Text struct {
	Sealed []byte
	Path   [][32]byte
}

// Check returns an error unless the text is the one that a share has for a member of a group of n.
func (x Text) Check(root [32]byte, member, n int) error {
	switch {
	case len(x.Sealed) != SealedSize:
		return fmt.Errorf("%w: %d bytes, want %d", ErrText, len(x.Sealed), SealedSize)
	case len(x.Path) != Depth(n):
		return fmt.Errorf("%w: a path of %d hashes, want %d", ErrText, len(x.Path), Depth(n))
	case !under(root, member, x.Sealed, x.Path):
		return ErrText
	}
	return nil
}

// CheckAll returns an error unless these are all texts of the share with this root.
func CheckAll(root [32]byte, sender int, sealed [][]byte, n int) error {
	if err := (Share{Sealed: sealed}).Check(n); err != nil {
		return err
	}
	if NewTree(sender, sealed).Root() != root {
		return ErrText
	}
	return nil
}

// text returns the text that a share has for a member, in either form of share.
func (sh Share) text(g Group, from, to int) ([]byte, error) {
	if !g.DetachedTexts {
		if err := sh.Check(len(g.Members)); err != nil {
			return nil, err
		}
		return sh.Sealed[place(from, to)], nil
	}
	if err := sh.Received.Check(sh.Root, to, len(g.Members)); err != nil {
		return nil, err
	}
	return sh.Received.Sealed, nil
}

// Wrong is a sealed text that a complaint shows because its content is wrong.
type Wrong struct {
	From int
	Text
}

// MaxWrong bounds the texts that one complaint shows. If more than half of the largest group is
// wrong, there is no quorum to continue.
const MaxWrong = MaxMembers / 2

// Opened is the contribution and blinder that a member opened.
type Opened [64]byte

// Complaint returns the opening of this member's side of an attempt. If texts travel apart, it
// includes what others need to see what the member saw: the wrong texts, or if none is wrong, every
// member's contribution and blinder.
func (s *Secrets) Complaint(g Group, commits []Posted[Commit], shares []Posted[Share]) (Opening, error) {
	out, err := s.Opening()
	if err != nil || !g.DetachedTexts {
		return out, err
	}
	self, t1, err := s.round1(g, commits)
	if err != nil {
		return Opening{}, fmt.Errorf("opening the attempt: %w", err)
	}
	key, err := kem().NewPrivateKey(out.Key)
	if err != nil {
		return Opening{}, fmt.Errorf("opening the attempt: %w", err)
	}
	out.Opened = make([]Opened, len(g.Members))
	for i := range g.Members {
		if i == self {
			out.Opened[i] = Opened(slices.Concat(out.Contribution[:], out.Blinder[:]))
			continue
		}
		plain, err := open(g, t1, key, i, self, commits[i].Message, shares[i].Message)
		switch {
		case err == nil:
			out.Opened[i] = Opened(plain)
		case len(out.Wrong) < MaxWrong:
			out.Wrong = append(out.Wrong, Wrong{i, shares[i].Message.Received})
		}
	}
	if len(out.Wrong) > 0 {
		out.Opened = nil
	}
	return out, nil
}

// shown judges what a complaint shows, if texts travel apart. It returns the contributions, or who
// is at fault.
func (r Record) shown(complainant int, t1 [32]byte, key hpke.PrivateKey, o Opening) (contributions [][]byte, faults []Fault) {
	own := func(err error) []Fault { return []Fault{{Member: complainant, Err: err}} }
	n := len(r.Group.Members)
	before := -1
	for _, w := range o.Wrong {
		if w.From <= before || w.From >= n || w.From == complainant || w.Check(r.Shares[w.From].Message.Root, complainant, n) != nil {
			return nil, own(ErrWrongEvidence)
		}
		before = w.From
		shown := Share{T1: r.Shares[w.From].Message.T1, Root: r.Shares[w.From].Message.Root, Received: w.Text}
		if _, err := open(r.Group, t1, key, w.From, complainant, r.Commits[w.From].Message, shown); err != nil {
			faults = append(faults, Fault{Member: w.From, Err: err})
		}
	}
	switch {
	case len(faults) > 0:
		return nil, faults
	case len(o.Wrong) > 0:
		return nil, own(ErrUnfounded)
	case len(o.Opened) != n:
		return nil, own(ErrWrongEvidence)
	}
	for i, opened := range o.Opened {
		if commitment(r.Group.Study, r.Group.Attempt, r.Group.Members[i], opened[:32], opened[32:]) != r.Commits[i].Message.Commitment {
			return nil, own(ErrWrongEvidence)
		}
		contributions = append(contributions, opened[:32])
	}
	return contributions, nil
}
