package analysis

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/release"
)

// MaskedSum says that the aggregator saw only sums over the parties, and what their guarantee
// assumes.
type MaskedSum struct {
	Members   int `json:"members"`   // members whose masks cancelled: all of the attempt
	Colluding int `json:"colluding"` // how many of them may collude; the noise of the others protects
}

func (m *MaskedSum) check() error {
	if m != nil && (m.Members < 2 || m.Colluding < 1 || m.Colluding >= m.Members) {
		return fmt.Errorf("a masked sum over %d members of which %d collude", m.Members, m.Colluding)
	}
	return nil
}

// checkMasked returns an error unless the contribution is masked for exactly the members that
// contribute.
func (o Options) checkMasked(c Contribution) error {
	want := 0
	if o.Study.Masked() {
		want = len(o.Contributions)
	}
	if c.Masked != want {
		return fmt.Errorf("party %q masked its release for %d members, and there are the contributions of %d: a masked sum needs all, and none else", o.Study.Parties[c.Party].Name, c.Masked, len(o.Contributions))
	}
	return nil
}

// planned returns the plan of a contribution's sketch, with its actual noise.
func (r *run) planned(party, index int) (release.Plan, error) {
	plan, err := release.For(r.Study, party, index)
	if err != nil {
		return plan, err
	}
	return plan.Among(len(r.Contributions))
}
