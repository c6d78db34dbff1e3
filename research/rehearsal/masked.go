package rehearsal

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
)

// pairs returns the pairwise secrets of a masked study's parties, from the agreement protocol; nil
// if the study is not masked.
func pairs(of *study.Study, entropy io.Reader) ([]agree.Pairs, error) {
	if !of.Masked() {
		return nil, nil
	}
	g := agree.Group{Study: of.ID, Attempt: 1}
	var secrets []*agree.Secrets
	var commits []agree.Posted[agree.Commit]
	for i, party := range of.Parties {
		g.Members = append(g.Members, party.ID)
		s, err := agree.Begin(g.Study, g.Attempt, party.ID, entropy)
		if err != nil {
			return nil, err
		}
		secrets, commits = append(secrets, s), append(commits, agree.Posted[agree.Commit]{ID: [32]byte{1, byte(i)}, Message: s.Commit()})
	}
	var shares []agree.Posted[agree.Share]
	for i, s := range secrets {
		share, err := s.Share(g, commits)
		if err != nil {
			return nil, err
		}
		shares = append(shares, agree.Posted[agree.Share]{ID: [32]byte{2, byte(i)}, Message: share})
	}
	var out []agree.Pairs
	for _, s := range secrets {
		o, err := s.Open(g, commits, shares)
		if err != nil {
			return nil, fmt.Errorf("agreeing on masks: %w", err)
		}
		out = append(out, o.Pairs)
	}
	return out, nil
}
