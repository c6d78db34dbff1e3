package forecast

import (
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
