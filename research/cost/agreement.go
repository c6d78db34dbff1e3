package cost

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/seed/agree"
)

// agreement measures a group that agrees on a seed: a member's work per other member, and one
// signature.
func agreement() ([]Row, error) {
	const members, signatures = 24, 200
	var commits []agree.Posted[agree.Commit]
	var shares []agree.Posted[agree.Share]
	var secrets []*agree.Secrets
	group := agree.Group{Study: [32]byte{1}, Attempt: 1}
	id := func(round, member int) [32]byte { return sha256.Sum256([]byte{byte(round), byte(member)}) }
	began := used()
	for i := range members {
		group.Members = append(group.Members, [32]byte{byte(i + 1)})
		s, err := agree.Begin(group.Study, group.Attempt, group.Members[i], rand.Reader)
		if err != nil {
			return nil, err
		}
		secrets, commits = append(secrets, s), append(commits, agree.Posted[agree.Commit]{ID: id(1, i), Message: s.Commit()})
	}
	for i, s := range secrets {
		share, err := s.Share(group, commits)
		if err != nil {
			return nil, err
		}
		shares = append(shares, agree.Posted[agree.Share]{ID: id(2, i), Message: share})
	}
	for _, s := range secrets {
		if _, err := s.Open(group, commits, shares); err != nil {
			return nil, err
		}
	}
	pair := float64((used() - began).Nanoseconds()) / (members * (members - 1))
	signer, err := protocol.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		return nil, err
	}
	sealed, err := signer.Seal(protocol.StudyID{1}, protocol.KindConfirm, 1, make([]byte, 600))
	if err != nil {
		return nil, err
	}
	began = used()
	for range signatures {
		if _, err := protocol.Verify(sealed.Envelope()); err != nil {
			return nil, err
		}
	}
	return []Row{
		{"agreeing, for each other party", pair, plan.AgreeTime},
		{"checking a signature", float64((used() - began).Nanoseconds()) / signatures, plan.VerifyTime},
	}, nil
}
