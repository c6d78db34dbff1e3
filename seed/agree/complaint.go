package agree

import (
	"bytes"
	"crypto/hpke"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/secret"
)

// Opening is what a complaint publishes: the complainant's ephemeral private key, contribution and
// blinder of one attempt. With it everybody can open what was sealed to the complainant, and
// recompute the attempt as the complainant saw it. The attempt is over from then on, as every
// reader of the opening can derive its seed.
type Opening struct {
	Key          []byte // MLKEM768-X25519 private key
	Contribution [32]byte
	Blinder      [32]byte

	// If texts travel apart: the wrong texts, in roster order, or every member's contribution and
	// blinder, by its place. See Complaint.
	Wrong  []Wrong
	Opened []Opened
}

// Opening returns this member's secrets of the attempt, to be published. The caller must never use
// the attempt again.
func (s *Secrets) Opening() (Opening, error) {
	h := secret.Reveal(s.hidden)
	key, err := h.ephemeral.Bytes()
	if err != nil {
		return Opening{}, fmt.Errorf("opening the attempt: %w", err)
	}
	return Opening{Key: key, Contribution: h.contribution, Blinder: h.blinder}, nil
}

// Format writes a fixed text for every verb, as an opening is secret until the complaint is posted.
func (o Opening) Format(f fmt.State, _ rune) { io.WriteString(f, secret.Text) }

// Record is an attempt as recorded on the board: commits and shares of all members in roster order,
// and their confirmations, nil if missing.
type Record struct {
	Group    Group
	Commits  []Posted[Commit]
	Shares   []Posted[Share]
	Confirms []*Confirm
}

// Examine judges a complaint of one member. It recomputes the attempt from the opening and returns
// who is at fault, at least one member, in roster order. That is the first of these that applies:
//
//   - the complainant, if the opening does not match its commit;
//   - the sharers whose shares to the complainant do not open or do not match
//     their commitments. If the complainant had confirmed, it is at fault instead:
//     an honest member confirms only what it opened. If texts travel apart, only
//     shares that the complaint shows are judged, and the complainant is at fault
//     if it shows a text that was not sealed to it;
//   - the members whose confirmations are under another seed, or of other public
//     row keys;
//   - the complainant, as its complaint is unfounded.
//
// No honest member is ever returned: its share opens with the key that was committed to, its
// confirmation verifies, and it makes no false complaint. An error means that the record is
// incomplete or mixes transcripts; then nobody is judged.
func (r Record) Examine(complainant int, o Opening) ([]Fault, error) {
	n := len(r.Group.Members)
	if err := r.Group.Validate(); err != nil {
		return nil, fmt.Errorf("examining a complaint: %w", err)
	}
	if complainant < 0 || complainant >= n || len(r.Commits) != n || len(r.Shares) != n || len(r.Confirms) != n {
		return nil, fmt.Errorf("examining a complaint: %d commits, %d shares and %d confirmations of %d members", len(r.Commits), len(r.Shares), len(r.Confirms), n)
	}
	t1 := r.Group.T1(ids(r.Commits))
	t2 := T2(t1, ids(r.Shares))
	for i, sh := range r.Shares {
		if c := r.Confirms[i]; sh.Message.T1 != t1 || c != nil && (c.T1 != t1 || c.T2 != t2) {
			return nil, fmt.Errorf("examining a complaint: member %d: %w", i, ErrTranscript)
		}
	}
	own := []Fault{{Member: complainant}}
	key, err := kem().NewPrivateKey(o.Key)
	if err != nil || !bytes.Equal(key.PublicKey().Bytes(), r.Commits[complainant].Message.EphemeralKey) ||
		commitment(r.Group.Study, r.Group.Attempt, r.Group.Members[complainant], o.Contribution[:], o.Blinder[:]) != r.Commits[complainant].Message.Commitment {
		own[0].Err = ErrOpening
		return own, nil
	}
	look := r.opened
	if r.Group.DetachedTexts {
		look = r.shown
	}
	contributions, faults := look(complainant, t1, key, o)
	if len(faults) > 0 && r.Confirms[complainant] != nil {
		own[0].Err = ErrContradictsConfirm
		return own, nil
	}
	if len(faults) > 0 {
		return faults, nil
	}
	return r.examineConfirms(complainant, t1, t2, contributions)
}

// opened judges shares that contain their texts. It returns the contributions, or who is at fault.
func (r Record) opened(complainant int, t1 [32]byte, key hpke.PrivateKey, o Opening) (contributions [][]byte, faults []Fault) {
	contributions = make([][]byte, len(r.Group.Members))
	for i := range contributions {
		if contributions[i] = o.Contribution[:]; i == complainant {
			continue
		}
		plain, err := open(r.Group, t1, key, i, complainant, r.Commits[i].Message, r.Shares[i].Message)
		if err != nil {
			faults = append(faults, Fault{Member: i, Err: err})
			continue
		}
		contributions[i] = plain[:32]
	}
	return contributions, faults
}

// examineConfirms judges the confirmations if every share opened, so that the seed can be derived.
func (r Record) examineConfirms(complainant int, t1, t2 [32]byte, contributions [][]byte) (faults []Fault, err error) {
	root, err := seed.Extract(t1, contributions)
	if err != nil {
		return nil, fmt.Errorf("examining a complaint: %w", err)
	}
	defer root.Destroy()
	outcome := Outcome{Seed: root, T1: t1, T2: t2, Publish: r.Group.Publish}
	for i, c := range r.Confirms {
		if c == nil {
			continue
		}
		if err := outcome.Check(r.Group.Members[i], *c); err != nil {
			faults = append(faults, Fault{Member: i, Err: err})
		}
	}
	if len(faults) == 0 {
		faults = []Fault{{Member: complainant, Err: ErrUnfounded}}
	}
	return faults, nil
}
