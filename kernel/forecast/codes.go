package forecast

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/dp"
)

// RoundsChoice is how k-means is best answered in two rounds: moments, and then codes.
type RoundsChoice struct {
	Axes, Codes     int // at most: the moments may tell that fewer axes stand out
	Moments, Second int // shares of the promise
}

// Shares of the promise: moments choose the axes and where code points are, and codes all else.
const (
	firstRound  = 3
	secondRound = 7
)

// ChooseRounds is the rule for two rounds, as [CellTerms.Choose] is for one.
func (t CellTerms) ChooseRounds() RoundsChoice {
	out := RoundsChoice{Axes: codebook.Axes(t.Clusters, t.Columns), Codes: codebook.Codes(t.Records, t.SecondCount(), t.Clusters), Moments: firstRound, Second: secondRound}
	if t.Records <= 0 {
		out.Codes = 2 * t.Clusters
	}
	return out
}

// SecondCount is the standard deviation of the noise on a count of the second round, in records: a codebook has
// as many code points as that leaves above it.
func (t CellTerms) SecondCount() float64 {
	const radius = 1 << 10
	n := dp.Zeroed
	if t.Replaced {
		n = dp.Replaced
	}
	s, err := dp.RecordCodes(radius, codebook.Axes(t.Clusters, t.Columns), dp.NewCellWeights(radius, false), n)
	if err != nil {
		panic(err) // of so short a radius there is a sensitivity
	}
	share := float64(secondRound) / (firstRound + secondRound)
	return math.Sqrt(float64(s.L2Squared)*t.Parties) / radius / (float64(t.Mu) * math.Sqrt(share))
}

// Codes is a k-means of the records in the noisy cells of a codebook.
type Codes struct {
	Columns  []Column     // required: of encoded values around the public centre
	Keep     Contribution // of a record in the moments of the first round; Whole where nothing is clipped
	Records  float64      // required: of all parties
	Clusters int          // required, at least 2
	Count    float64      // variance of the noise on the count of a cell, in the second round
	Product  float64      // variance of the noise on a sum of products of two columns, in the first
}

// Size forecasts the number of records of a cluster as [Cells.Size] does, and is undefined where clusters
// cannot be told for the same reasons: fewer than two cells for each of them can have five deviations
// of the noise on a count, or the noise of the moments hides the axes.
func (c Codes) Size() Error {
	cells := Cells{Columns: c.Columns, Keep: c.Keep, Records: c.Records, Clusters: c.Clusters, Count: c.Count, Product: c.Product}
	cells.Cells = codebook.Codes(c.Records, math.Sqrt(c.Count), c.Clusters)
	cells.Subspace = codebook.Axes(c.Clusters, len(c.Columns))
	return cells.Size()
}

// Sizes forecasts the number of records of a cluster, as [Cells.Size] does, in one round and in two, each with what
// its rule chooses. Of has Columns, Keep and Product; the terms have the rest.
func (t CellTerms) Sizes(of Cells) (one, two Error) {
	choice := t.Choose()
	of.Records, of.Clusters, of.Cells, of.Subspace = t.Records, t.Clusters, 1<<choice.Directions, choice.Subspace
	of.Count = t.count(choice) * t.count(choice)
	one = of.Size()
	second := t.SecondCount()
	two = Codes{Columns: of.Columns, Keep: of.Keep, Records: t.Records, Clusters: t.Clusters, Count: second * second, Product: of.Product}.Size()
	return one, two
}

// How much larger the records' inertia is, of centroids from one round and from two, than of k-means on the records
// themselves: at most, and about, of sets of 3,000 records or more. The command rounds of the module research measures
// it of ten sets.
const (
	OneRoundExcess  = .09
	TwoRoundsExcess = .05
)

// SecondRound reports whether k-means takes a second round, by what Sizes forecasts: wherever clusters can be told in
// it. It places centroids better or as well, in every set that was measured; but not where it leaves the number of
// records of a cluster unknown and one round does not.
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

// SecondGain says what a second round does, by what Sizes forecasts.
func SecondGain(one, two Error) string {
	known := func(e Error) string { return fmt.Sprintf("± %.2g %%", 100*e.HalfWidth) }
	switch {
	case two.Undefined != "":
		return "In neither one nor two could clusters be told: " + two.Undefined + "."
	case one.Undefined != "":
		return fmt.Sprintf("With the second, the number of records of a cluster is known to %s, if all have as many. In one, clusters could not be told.", known(two))
	}
	return fmt.Sprintf("%s The number of records of a cluster is known to %s, if all have as many; in one round to %s.", Excess(), known(two), known(one))
}

// Excess says how well centroids are placed in one round and in two.
func Excess() string {
	return fmt.Sprintf("In two, records lie up to %.0f %% farther from their centres, in squares, than after k-means on the records themselves; in one, up to %.0f %%.", 100*TwoRoundsExcess, 100*OneRoundExcess)
}
