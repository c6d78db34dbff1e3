package plan

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

// codeSize forecasts the error of the number of records of a cluster that a second round finds.
func codeSize(c *cell, q question) (forecast.Error, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return forecast.Error{}, err
	}
	_, count := plan.CodeNoise(len(c.Study.Parties))
	f := forecast.Codes{Columns: c.columns(c.viewer()), Keep: forecast.Whole(), Records: c.unionRecords(), Clusters: clusters(q.analysis), Count: count}
	if f.Keep, f.Product, err = c.fromMoments(); err != nil {
		return forecast.Error{}, err
	}
	return f.Size(), nil
}

// fromMoments returns what a sketch of moments beside this one keeps of a record, and the noise on
// its products. Without moments it returns everything, and no noise.
func (c *cell) fromMoments() (forecast.Contribution, float64, error) {
	at, ok := c.Study.Moments()
	if !ok {
		return forecast.Whole(), 0, nil
	}
	moments := *c
	moments.index, moments.kept = at, map[int]forecast.Contribution{}
	noise, err := moments.momentNoise()
	if err != nil {
		return forecast.Contribution{}, 0, err
	}
	return moments.keep(c.viewer()), noise.Product, nil
}

// otherRounds says what a k-means of two rounds would give in one round, or what one of one round
// would give in two if that is much better, for clusters of each records. It compares the sketches
// that a draft would write.
func (c *cell) otherRounds(a study.Analysis, each float64) string {
	one, two, err := c.rounds(a)
	switch known := func(e forecast.Error) string { return "± " + whole(e.HalfWidth*each, 2) }; {
	case err != nil:
		return "" // the forecast itself says it
	case c.Study.TwoRounds() && two.Undefined != "":
		return ""
	case c.Study.TwoRounds() && one.Undefined != "":
		return "; in one round clusters cannot be told apart"
	case c.Study.TwoRounds():
		return "; in one round " + known(one) + ". " + forecast.Excess()
	case c.roundsFit() && one.Undefined != "" && two.Undefined == "":
		return "; a second round would tell them apart, and give the number of records of each to " + known(two) + " (rounds: 2, with side: codes in place of cells)"
	case c.roundsFit() && forecast.SecondRound(one, two):
		return "; in a second round (rounds: 2, with side: codes in place of cells) " + known(two) + ". " + forecast.Excess()
	}
	return ""
}

// roundsFit reports whether the study could have a second round.
func (c *cell) roundsFit() bool {
	for _, sk := range c.Study.Sketches {
		if !sk.Side.Sums() {
			return false
		}
	}
	_, ok := c.Study.Moments()
	return ok && c.Study.LateUntil == 0 && c.Study.Partition == study.Horizontal
}

// rounds forecasts a k-means in one round and in two, with the budget that the study now spends on
// it.
func (c *cell) rounds(a study.Analysis) (one, two forecast.Error, err error) {
	of := forecast.Cells{Columns: c.columns(c.viewer())}
	if of.Keep, of.Product, err = c.fromMoments(); err != nil {
		return one, two, err
	}
	whole, err := c.Study.Privacy.Guarantee()
	if err != nil || whole.Mechanism() != dp.Gaussian {
		return one, two, err
	}
	share := c.sketch().Share
	if at, ok := c.Study.Moments(); ok {
		share += c.Study.Sketches[at].Share
	}
	part, err := whole.Share(math.Min(share, 1))
	if err != nil {
		return one, two, err
	}
	parties := float64(len(c.Study.Parties))
	terms := forecast.CellTerms{
		Columns: len(of.Columns), Clusters: clusters(a), Mu: part.Mu(), Records: c.unionRecords(), Replaced: c.Study.Privacy.Replaced,
		Parties: parties / float64(c.Study.HonestMembers(len(c.Study.Parties))),
	}
	one, two = terms.Sizes(of)
	return one, two, nil
}
