package agree

import (
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"fmt"

	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/secret"
)

// Confirm is the third message: both transcripts, and a proof that the sender has the seed.
type Confirm struct {
	T1, T2 [32]byte
	Tag    [32]byte // HMAC-SHA-256 under a key derived from the seed, over T2 ‖ sender

	Published [][32]byte // PublishedHash of each row key that the study publishes, in the order of Group.Publish
}

// Outcome is what a member has once every share opened and matched its commitment.
type Outcome struct {
	Seed    seed.Seed
	T1, T2  [32]byte
	Publish []seed.Label // Group.Publish
	Pairs   Pairs        // used only to mask sums
}

// Open opens every share that was sealed to this member and checks it against its commitment. It
// derives the seed = HKDF-Extract(salt T1, all contributions in roster order). A *Fault names the
// member whose message was wrong.
func (s *Secrets) Open(g Group, commits []Posted[Commit], shares []Posted[Share]) (Outcome, error) {
	self, t1, err := s.round1(g, commits)
	if err != nil {
		return Outcome{}, fmt.Errorf("opening shares: %w", err)
	}
	if len(shares) != len(g.Members) {
		return Outcome{}, fmt.Errorf("opening shares: %d shares for %d members", len(shares), len(g.Members))
	}
	contributions, halves := make([][]byte, len(g.Members)), make([][]byte, len(g.Members))
	for i := range g.Members {
		if i == self {
			contributions[i] = secret.Reveal(s.hidden).contribution[:]
			continue
		}
		plain, err := open(g, t1, secret.Reveal(s.hidden).ephemeral, i, self, commits[i].Message, shares[i].Message)
		if err != nil {
			return Outcome{}, &Fault{Member: i, Err: err}
		}
		contributions[i], halves[i] = plain[:32], plain[64:]
	}
	root, err := seed.Extract(t1, contributions)
	if err != nil {
		return Outcome{}, fmt.Errorf("opening shares: %w", err)
	}
	pairs, err := s.pairs(t1, self, halves)
	if err != nil {
		return Outcome{}, fmt.Errorf("opening shares: %w", err)
	}
	return Outcome{Seed: root, T1: t1, T2: T2(t1, ids(shares)), Publish: g.Publish, Pairs: pairs}, nil
}

// open opens what one member sealed to another and checks it against the commitment. It returns
// contribution, blinder and the sender's half of the pairwise secret.
func open(g Group, t1 [32]byte, key hpke.PrivateKey, from, to int, c Commit, sh Share) ([]byte, error) {
	if sh.T1 != t1 {
		return nil, ErrTranscript
	}
	text, err := sh.text(g, from, to)
	if err != nil {
		return nil, err
	}
	plain, err := hpke.Open(key, kdf(), aead(), shareInfo(t1, from, to), text)
	if err != nil || len(plain) != shareSize {
		return nil, ErrShareSealed
	}
	if commitment(g.Study, g.Attempt, g.Members[from], plain[:32], plain[32:64]) != c.Commitment {
		return nil, ErrCommitment
	}
	return plain, nil
}

// Confirm returns this member's proof that it has the seed.
func (o Outcome) Confirm(self [32]byte) (Confirm, error) {
	tag, err := o.tag(self)
	if err != nil {
		return Confirm{}, err
	}
	published, err := o.published()
	if err != nil {
		return Confirm{}, err
	}
	return Confirm{T1: o.T1, T2: o.T2, Tag: tag, Published: published}, nil
}

// Check verifies another member's confirmation.
func (o Outcome) Check(member [32]byte, c Confirm) error {
	if c.T1 != o.T1 || c.T2 != o.T2 {
		return ErrTranscript
	}
	want, err := o.tag(member)
	if err != nil {
		return err
	}
	if !hmac.Equal(want[:], c.Tag[:]) {
		return &TagError{Got: c.Tag, Want: want}
	}
	return o.checkPublished(c)
}

// TagError is ErrConfirmTag with both tags. Publishing Want ends the attempt, as its seed must not
// be used afterwards.
type TagError struct{ Got, Want [32]byte }

func (e *TagError) Error() string { return ErrConfirmTag.Error() }

func (e *TagError) Unwrap() error { return ErrConfirmTag }

func (o Outcome) tag(member [32]byte) (out [32]byte, err error) {
	key, err := o.Seed.Derive(seed.Confirm)
	if err != nil {
		return out, fmt.Errorf("deriving confirmation key: %w", err)
	}
	mac := hmac.New(sha256.New, key[:])
	mac.Write(o.T2[:])
	mac.Write(member[:])
	mac.Sum(out[:0])
	return out, nil
}
