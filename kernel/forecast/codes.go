package forecast

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/dp"
)

// RoundsChoice is the choice that is best for k-means in two rounds: moments, and then codes.
type RoundsChoice struct {
	Axes, Codes     int // upper bounds: the moments may show that fewer axes stand out
	Moments, Second int // shares of μ², relative to each other
}

// Shares of μ²: moments choose the axes and the code points, and codes serve for all else.
const (
	firstRound  = 3
	secondRound = 7
)

// ChooseRounds applies the rule for two rounds, as [CellTerms.Choose] does for one.
func (t CellTerms) ChooseRounds() RoundsChoice {
	out := RoundsChoice{Axes: codebook.Axes(t.Clusters, t.Columns), Codes: codebook.Codes(t.Records, t.SecondCount(), t.Clusters), Moments: firstRound, Second: secondRound}
	if t.Records <= 0 {
		out.Codes = 2 * t.Clusters
	}
	return out
}

// SecondCount returns the standard deviation of the noise on a count of the second round, in
// records. It decides how many code points a codebook has.
func (t CellTerms) SecondCount() float64 {
	const radius = 1 << 10
	n := dp.Zeroed
	if t.Replaced {
		n = dp.Replaced
	}
	s, err := dp.RecordCodes(radius, codebook.Axes(t.Clusters, t.Columns), dp.NewCellWeights(radius, false), n)
	if err != nil {
		panic(err) // so short a radius cannot overflow
	}
	share := float64(secondRound) / (firstRound + secondRound)
	return math.Sqrt(float64(s.L2Squared)*t.Parties) / radius / (float64(t.Mu) * math.Sqrt(share))
}

// Codes describes a k-means of the records in the noisy cells of a codebook.
type Codes struct {
	Columns  []Column     // required: of encoded values around the public centre
	Keep     Contribution // of a record in the moments of the first round; Whole if nothing is clipped
	Records  float64      // required: of all parties
	Clusters int          // required, at least 2
	Count    float64      // variance of the noise on the count of a cell, in the second round
	Product  float64      // variance of the noise on a sum of products of two columns, in the first
}

// Size forecasts the number of records of a cluster as [Cells.Size] does. It is undefined for the
// same reasons: the counts of fewer than two cells for each cluster can be five standard deviations
// of their noise, or the noise of the moments hides the axes.
func (c Codes) Size() Error {
	cells := Cells{Columns: c.Columns, Keep: c.Keep, Records: c.Records, Clusters: c.Clusters, Count: c.Count, Product: c.Product}
	cells.Cells = codebook.Codes(c.Records, math.Sqrt(c.Count), c.Clusters)
	cells.Subspace = codebook.Axes(c.Clusters, len(c.Columns))
	return cells.Size()
}

// Sizes forecasts the number of records of a cluster, as [Cells.Size] does, in one round and in
// two, each with the choice of its rule. Columns, Keep and Product are taken from of, the rest from
// the terms.
func (t CellTerms) Sizes(of Cells) (one, two Error) {
	choice := t.Choose()
	of.Records, of.Clusters, of.Cells, of.Subspace = t.Records, t.Clusters, 1<<choice.Directions, choice.Subspace
	of.Count = t.count(choice) * t.count(choice)
	one = of.Size()
	second := t.SecondCount()
	two = Codes{Columns: of.Columns, Keep: of.Keep, Records: t.Records, Clusters: t.Clusters, Count: second * second, Product: of.Product}.Size()
	return one, two
}

// Excess of the records' inertia with centroids from one round and from two, relative to k-means on
// the records themselves: approximate upper bounds for data sets of 3,000 records or more. The
// command rounds of the module research measures it on ten sets.
const (
	OneRoundExcess  = .09
	TwoRoundsExcess = .05
)

// SecondRound reports whether k-means should take a second round, given the forecasts of Sizes. It
// should if clusters can be told in it, since it placed centroids at least as well in every data
// set that was measured. The exception is a second round that leaves the number of records of a
// cluster unknown, while one round does not.
func SecondRound(one, two Error) bool {
	const unknown = .5
	switch {
	case two.Undefined != "":
		return false
	case one.Undefined != "":
		return true
	}
	return two.HalfWidth <= math.Max(unknown, one.HalfWidth)
}

// SecondGain describes the effect of a second round, given the forecasts of Sizes.
func SecondGain(one, two Error) string {
	known := func(e Error) string { return fmt.Sprintf("± %.2g %%", 100*e.HalfWidth) }
	switch {
	case two.Undefined != "" && one.Undefined != "":
		return "Clusters cannot be told apart, neither in one round nor in two: " + two.Undefined + "."
	case two.Undefined != "":
		return fmt.Sprintf("With two rounds, clusters cannot be told apart: %s. With one, the number of records of a cluster is known to %s, if clusters are equally large.", two.Undefined, known(one))
	case one.Undefined != "":
		return fmt.Sprintf("With two, the number of records of a cluster is known to %s, if clusters are equally large. With one, clusters cannot be told apart.", known(two))
	}
	return fmt.Sprintf("%s. The number of records of a cluster is known to %s, if clusters are equally large; with one round, to %s.", Excess(), known(two), known(one))
}

// Excess describes how well one round and two rounds place centroids.
func Excess() string {
	return fmt.Sprintf("With two rounds, the mean squared distance of records from their centres is up to about %.0f %% larger than after k-means on the records themselves; with one, up to about %.0f %%", 100*TwoRoundsExcess, 100*OneRoundExcess)
}
