package study

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// Sum says what the aggregator sees of sketches that are summed over parties.
type Sum string

const (
	SumPlain  Sum = "plain"  // each party's sketch
	SumMasked Sum = "masked" // only the sum over all parties: see Study.Colluding
)

// Masked reports whether the aggregator sees only the sum over the parties.
func (s *Study) Masked() bool { return s.Sum == SumMasked }

// HonestMembers returns how many members of a roster are sure to keep secret their part of the noise of a
// masked sum: all but those that the study allows to collude. It is 1 for a study that is not
// masked, where each party's noise must suffice alone.
func (s *Study) HonestMembers(members int) int {
	if !s.Masked() {
		return 1
	}
	return members - s.Colluding
}

// MostReleases returns the largest number of releases that a party may have to make in the study,
// each debited in full. It is 1 unless sums are masked; then there is one for each attempt that a
// lost party can void. Each void attempt loses a member, down to the quorum.
func (s *Study) MostReleases() int {
	if !s.Masked() {
		return 1
	}
	return max(1, min(s.Attempts, len(s.Parties)-s.Quorum+1))
}

// AllRounds returns the joint budget of all the releases that a party may have to make.
func (s *Study) AllRounds() (dp.Budget, error) {
	g, err := s.Privacy.Guarantee()
	if err != nil || g.Mechanism() == dp.None {
		return dp.Budget{}, err
	}
	return dp.Budget{Epsilon: g.Loss().Repeated(s.MostReleases()).Epsilon(g.Delta()), Delta: g.Delta()}, nil
}

// explainMaskedReaders says what the aggregator sees of masked sketches.
func (s *Study) explainMaskedReaders(p *page) {
	p.text(fmt.Sprintf("The aggregator %s receives every party's sketches masked. To each number of yours your program adds, for each other party, a random one that only you two know and that the other takes off. The masks cancel in the sum over all parties that agreed on the seed, and in no other: your sketches by themselves, and sums that lack even one party, are uniformly random numbers to whoever does not know your masks.", s.Aggregator.ID))
	p.text("So the aggregator sees the parties' sums and the record counts, and no party's own sums. No party sees another party's sketch; all see the results and the record counts.")
	p.text("What masks cost: nobody can check one party's numbers. A party that sends wrong ones spoils the sum, or shifts it, and nobody can tell which party it was.")
}

// explainMaskedPromise says what the guarantee of a masked sum assumes, and what remains if that
// does not hold.
func (s *Study) explainMaskedPromise(p *page, g dp.Guarantee) {
	n, t := len(s.Parties), s.Colluding
	who := "one of the parties does"
	if t > 1 {
		who = fmt.Sprintf("%d of the parties do", t)
	}
	p.text(fmt.Sprintf("THIS IS ABOUT THE SUM, AND ASSUMES THAT NO MORE THAN %d OF THE PARTIES COLLUDE with the aggregator or with each other. Your own noise is smaller than it would have to be alone: each of n parties draws noise of 1/(n - %d) of the variance, here 1/%d if all %d take part, so that what is left is enough even if %s not keep its part to itself. Whoever reads the result knows its own part.", t, t, n-t, n, who))
	alone := dp.Budget{Epsilon: dp.EpsilonOf(g.Mu()*dp.Mu(math.Sqrt(float64(n-t))), g.Delta()), Delta: g.Delta()}
	p.text(fmt.Sprintf("If all other parties collude with the aggregator, your own noise is all that is left: about %s.", alone))
	both := dp.Budget{Epsilon: dp.EpsilonOf(2*g.Mu(), g.Delta()), Delta: g.Delta()}
	p.text(fmt.Sprintf("One noise covers the whole sum: for a person of whom two parties have a record the guarantee is %s.", both))
	p.text("It holds with R known to all, against whoever cannot break the encryption by which the parties agreed on their masks, for whatever is computed from the sums afterwards. Your ledger is debited before anything leaves.")
}

// explainRounds says what happens to a masked sum if a party is lost.
func (s *Study) explainRounds() []string {
	out := []string{"a masked sum needs every party that agreed on the seed: where one has not uploaded, its masks do not cancel, and the sketches of the others are of no use to anybody"}
	rounds := s.MostReleases()
	if rounds == 1 {
		return append(out, "then the study stops without a result, and what your ledger was debited for stays debited; to go on without the lost party takes another study, which you approve or not")
	}
	cost := fmt.Sprintf("then those that are left, at least %d, agree anew and YOUR PROGRAM RELEASES AGAIN: under fresh masks, with fresh noise for as many as are left, and debited again. This can happen as the aggregator says so, without asking you: at most %d releases in all", s.Quorum, rounds)
	if all, err := s.AllRounds(); err == nil && all.Epsilon > 0 {
		cost += fmt.Sprintf(", %s together", all)
	}
	return append(out, cost+"; the caps of your own site file, and release: ask there, hold each time")
}
