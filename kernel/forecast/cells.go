package forecast

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Limits of the rule for cells, found by simulation: the count of a cell of average size is this
// many standard deviations of its noise, and more directions than these gain nothing.
const (
	averageCell    = 4.5
	mostDirections = 9
)

// CellTerms is the input of the rule for k-means by cells.
type CellTerms struct {
	Columns  int     // required: d
	Clusters int     // required, at least 2
	Mu       dp.Mu   // of all releases of a party for it; required
	Parties  float64 // parties whose noise is in the sums, in units of one party's noise under plain sums; required
	Records  float64 // of all parties; 0: unknown
	Replaced bool    // a record is replaced by another, not by zeros
}

// CellChoice is the choice of moments and cells that is best for k-means.
type CellChoice struct {
	Directions     int // L
	Subspace       int // q
	Moments, Cells int // shares of μ², relative to each other
}

// unknownDirections is used if the number of records is unknown: enough for a few clusters, and few
// enough for some thousand records.
const unknownDirections = 5

// Choose applies the rule. Clusters differ in one direction less than their number. Moments serve
// only to find these directions and the places of cells, and take a quarter of μ². There are as
// many cells as the number of records allows.
func (t CellTerms) Choose() CellChoice {
	out := CellChoice{Subspace: max(1, min(t.Clusters-1, t.Columns)), Moments: 1, Cells: 3}
	if out.Directions = min(unknownDirections, projection.HadamardSize(t.Columns)); t.Records > 0 {
		out.Directions = Directions(t.Columns, t.Records, t.count(out))
	}
	return out
}

// count returns the standard deviation of the noise on a count of one round, in records.
func (t CellTerms) count(c CellChoice) float64 {
	share := float64(c.Cells) / float64(c.Cells+c.Moments)
	return t.length() / (float64(t.Mu) * math.Sqrt(share)) * math.Sqrt(t.Parties)
}

// length returns the l2 sensitivity to one record, in units of its count's weight.
func (t CellTerms) length() float64 {
	const clip = 1 << 10
	n := dp.Zeroed
	if t.Replaced {
		n = dp.Replaced
	}
	s, err := dp.RecordCells(clip, max(t.Columns, 1), dp.NewCellWeights(clip, true), n)
	if err != nil {
		panic(err) // so short a clip cannot overflow
	}
	return math.Sqrt(float64(s.L2Squared)) / clip
}

// Directions returns the largest number of directions at which the count of an average cell is at
// least 4.5 standard deviations of its noise: at least 1, up to 9 and to what so many columns
// allow.
func Directions(columns int, records, deviation float64) int {
	l := 1
	for most := min(mostDirections, projection.HadamardSize(columns)); l < most; l++ {
		if records/float64(int(2)<<l) < averageCell*deviation || sketch.CellEntries(l+1, columns, dp.NewCellWeights(3, true)) > sketch.MaxCellEntries {
			break
		}
	}
	return l
}

// Cells describes a k-means of the records in noisy cells.
type Cells struct {
	Columns  []Column     // required: of encoded values around the public centre
	Keep     Contribution // of a record in the moments; Whole if nothing is clipped
	Records  float64      // required: of all parties
	Cells    int          // required
	Clusters int          // required, at least 2
	Subspace int          // eigenvectors of the moments that centroids are projected on; 0: none
	Count    float64      // number of eigenvectors of the moments that centroids are projected on; 0: none
	Product  float64      // variance of the noise on a sum of products of two columns; 0 without moments
}

// To tell clusters, the count of a cell must be so many standard deviations of its noise, and there
// must be so many such cells for each cluster.
const (
	clearCell      = 5
	cellsByCluster = 2
)

// Size forecasts the number of records of a cluster, in units of itself, if all clusters have as
// many records and cells. By Cells.Group of kernel/cluster, the variance is that of N/K records in
// B/K of B cells. It is undefined if clusters cannot be told:
//
//   - if the counts of fewer than two cells for each cluster can be five standard deviations of
//     their noise: there are B cells, and at most N/(5σ) of these, which unequal cells come near to;
//   - if the noise of the moments hides the q-th direction in which clusters differ. A symmetric
//     d × d matrix of noise with standard deviation s has a norm of about 2s√d (Wigner 1958). The
//     direction is assumed to have the q-th part of half of the variance, and must exceed that norm
//     by three s.
func (c Cells) Size() Error {
	k := float64(c.Clusters)
	clearest := float64(c.Cells)
	if c.Count > 0 {
		clearest = min(clearest, c.Records/(clearCell*math.Sqrt(c.Count)))
	}
	if clearest < cellsByCluster*k {
		return Error{Undefined: fmt.Sprintf("at most %d cells can have counts well above the noise, and %d clusters need %d each", int(clearest), c.Clusters, cellsByCluster)}
	}
	var variance float64
	for _, column := range c.Columns {
		variance += column.Spread * column.Spread
	}
	s := math.Sqrt(c.Product) / c.Records
	if q := float64(c.Subspace); q > 0 && variance*c.Keep.Square/2/q < s*(2*math.Sqrt(float64(len(c.Columns)))+3) {
		return Error{Undefined: fmt.Sprintf("the noise of the moments would hide the directions in which %d clusters differ", c.Clusters)}
	}
	each := float64(c.Cells) / k
	return Relative(c.Count*(each-each/k), c.Records/k)
}
