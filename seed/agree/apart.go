package agree

import (
	"crypto/hpke"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Where sealed texts travel apart from their share, the share holds the root of a tree over
// them, and a reader is given the one text that is sealed to it, with the path that leads from
// it to the root. So each member reads as many bytes as there are members, and not their square,
// and the sender's signature holds every text all the same.

// MaxWhole bounds a group whose shares hold their texts: such a share has at most 128 KiB.
const MaxWhole = 64

// Labels of the tree's hashes.
const (
	labelText = "cosketch/1/agree/text"
	labelNode = "cosketch/1/agree/node"
)

// ErrText reports a sealed text that is not the one that a share's root speaks of.
var ErrText = errors.New("sealed text is not under the root of its share")

// Tree is the hash tree over the sealed texts of one share. A leaf is a member's place in the
// roster; the sender's own, and those beyond the last, are zeros.
type Tree struct {
	levels [][][32]byte // from the leaves on; the last has the root alone
}

// Depth is the length of a path in a group of n members.
func Depth(n int) int { return bits.Len(uint(n - 1)) }

// TextSize is what the text that is sealed to one member takes with its path, in a group of n.
func TextSize(n int) int { return SealedSize + 32*Depth(n) }

// NewTree hashes the texts that a member sealed to the others, which stand in roster order
// without its own place.
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

// Root is what the share holds.
func (t Tree) Root() [32]byte { return t.levels[len(t.levels)-1][0] }

// Path is what leads from a member's text to the root: at each level the other hash.
func (t Tree) Path(member int) [][32]byte {
	path := make([][32]byte, 0, len(t.levels)-1)
	for _, level := range t.levels[:len(t.levels)-1] {
		path = append(path, level[member^1])
		member /= 2
	}
	return path
}

// under reports whether a text is that of a member's place under a root.
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

// place is where a sender's list of sealed texts has that of a member: its own is left out.
func place(sender, member int) int {
	if member > sender {
		return member - 1
	}
	return member
}

// TextFor picks a member's text out of those that a sender sealed to the others.
func TextFor(sealed [][]byte, sender, member int) []byte { return sealed[place(sender, member)] }

// recipient is whom the text at a place of a sender's list is sealed to.
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

// Check reports whether a text is the one that a share holds for a member of a group of n.
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

// CheckAll reports whether these are all texts of a share whose root this is.
func CheckAll(root [32]byte, sender int, sealed [][]byte, n int) error {
	if err := (Share{Sealed: sealed}).Check(n); err != nil {
		return err
	}
	if NewTree(sender, sealed).Root() != root {
		return ErrText
	}
	return nil
}

// text is what a share holds for a member, whichever form it has.
func (sh Share) text(g Group, from, to int) ([]byte, error) {
	if !g.Apart {
		if err := sh.Check(len(g.Members)); err != nil {
			return nil, err
		}
		return sh.Sealed[place(from, to)], nil
	}
	if err := sh.Own.Check(sh.Root, to, len(g.Members)); err != nil {
		return nil, err
	}
	return sh.Own.Sealed, nil
}

// Wrong is a text that its sender should not have sealed, as a complaint shows it.
type Wrong struct {
	From int
	Text
}

// MaxWrong bounds what one complaint shows. Where more than half of the largest group is wrong
// there is no quorum to go on.
const MaxWrong = MaxMembers / 2

// Opened is a contribution and its blinder, as a member opened them.
type Opened [64]byte

// Complaint is the opening of this member's side of an attempt. Where texts travel apart, it
// holds what others need to see what the member saw: the texts that are wrong, or if none is,
// every member's contribution and blinder.
func (s *Secrets) Complaint(g Group, commits []Posted[Commit], shares []Posted[Share]) (Opening, error) {
	out, err := s.Opening()
	if err != nil || !g.Apart {
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
			out.Wrong = append(out.Wrong, Wrong{i, shares[i].Message.Own})
		}
	}
	if len(out.Wrong) > 0 {
		out.Opened = nil
	}
	return out, nil
}

// shown judges what a complaint shows of shares whose texts travel apart: the contributions
// that follow, or who is at fault.
func (r Record) shown(complainant int, t1 [32]byte, key hpke.PrivateKey, o Opening) (contributions [][]byte, faults []Fault) {
	own := func(err error) []Fault { return []Fault{{Member: complainant, Err: err}} }
	n := len(r.Group.Members)
	before := -1
	for _, w := range o.Wrong {
		if w.From <= before || w.From >= n || w.From == complainant || w.Check(r.Shares[w.From].Message.Root, complainant, n) != nil {
			return nil, own(ErrShown)
		}
		before = w.From
		shown := Share{T1: r.Shares[w.From].Message.T1, Root: r.Shares[w.From].Message.Root, Own: w.Text}
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
		return nil, own(ErrShown)
	}
	for i, opened := range o.Opened {
		if commitment(r.Group.Study, r.Group.Attempt, r.Group.Members[i], opened[:32], opened[32:]) != r.Commits[i].Message.Commitment {
			return nil, own(ErrShown)
		}
		contributions = append(contributions, opened[:32])
	}
	return contributions, nil
}
