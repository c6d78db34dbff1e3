package codebook

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Constants of the rule in the package comment.
const (
	publicPoints = 4000
	averageCell  = 5 // standard deviations of its noise that the count of an average cell has
	mostCodes    = 100
	reach        = 2.5 // times the root mean squared length of records along the axes
	starts       = 3   // of the k-means that reduces the public points
	iterations   = 100
	whole        = 16 // parts of a step in which sketch.Codebook has the centre
)

// Options are the input of New. Lengths are in steps of encoded entries.
type Options struct {
	Mean       []float64         // Required. of the records: d entries, around the encoded zero
	Covariance mat.Symmetric     // Required. d × d; at most decompose.MaxDim rows
	Noise      float64           // variance of the noise on an entry of Covariance
	Bits       fixedpoint.Bits   // Required. of encoded entries
	Records    float64           // Required. of all parties
	Clusters   int               // Required. number to look for, at least 2
	Count      float64           // standard deviation of the noise on a count of the second round, of all parties, in records
	Public     projection.Source // Required. source of the public points, the same for all parties
	Workers    int               // goroutines; the result does not depend on them. Default 1
}

func (o Options) check() error {
	d := len(o.Mean)
	switch {
	case o.Covariance == nil || d < 1 || o.Covariance.SymmetricDim() != d || d > decompose.MaxDim:
		return fmt.Errorf("a mean of %d columns: want 1 to %d, and a covariance of the same size", d, decompose.MaxDim)
	case o.Bits.Check() != nil:
		return o.Bits.Check()
	case !(o.Records > 0) || o.Clusters < 2 || !(o.Count >= 0) || !(o.Noise >= 0) || math.IsInf(o.Noise, 0):
		return fmt.Errorf("%g records, %d clusters, noise %g of counts and %g of products: want more than 0 records, at least 2 clusters and finite noise of at least 0", o.Records, o.Clusters, o.Count, o.Noise)
	case o.Public == nil:
		return errors.New("no source of public points")
	}
	for i, v := range o.Mean {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("mean %d is not finite", i+1)
		}
	}
	return nil
}

// Draft is a codebook with the intermediate results that Agrees needs.
type Draft struct {
	Codebook   sketch.Codebook
	Spread     []float64 // by axis: variance of the records along it
	covariance mat.Symmetric
	points     *mat.Dense // the public points, in steps along the axes
	distortion float64    // mean squared distance of the points from their nearest code point
}

// Axes returns the largest number of axes of a codebook.
func Axes(clusters, d int) int { return max(1, min(clusters-1, d, sketch.MaxCodeAxes)) }

// Codes returns the number of code points of a codebook: so many that an average cell still stands
// out of the noise.
func Codes(records, count float64, clusters int) int {
	m := float64(mostCodes)
	if count > 0 {
		m = min(m, records/(averageCell*count))
	}
	return min(max(int(m), 2*clusters), sketch.MaxCodes)
}

// hidden returns the largest eigenvalue that noise of this variance makes by itself: a symmetric d
// × d matrix of noise has about this norm (Wigner 1958).
func hidden(noise float64, d int) float64 { return 2 * math.Sqrt(noise*float64(d)) }

// New makes a codebook. It returns an error for invalid options, and accepts any noisy moments.
func New(ctx context.Context, o Options) (*Draft, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("drawing up a codebook: %w", err)
	}
	d := len(o.Mean)
	values, axes, err := decompose.Principal(ctx, o.Covariance, Axes(o.Clusters, d))
	if err != nil {
		return nil, fmt.Errorf("drawing up a codebook: %w", err)
	}
	out := &Draft{covariance: o.Covariance}
	var square float64
	for a, v := range values {
		if a > 0 && v <= hidden(o.Noise, d) {
			break
		}
		out.Spread = append(out.Spread, max(v, 1)) // at least one step squared, for records that are all alike
		square += out.Spread[a]
	}
	q := len(out.Spread)
	c := &out.Codebook
	c.Radius = int64(min(math.Ceil(reach*math.Sqrt(square)), sketch.MaxRadius))
	for _, m := range o.Mean {
		c.Centre = append(c.Centre, bounded(whole*m, whole*o.Bits.One()))
	}
	for a := range q {
		axis := make([]int64, d)
		for j := range axis {
			axis[j] = bounded(sketch.AxisOne*axes.At(j, a), sketch.AxisOne)
		}
		c.Axes = append(c.Axes, axis)
	}
	if out.points, err = points(o.Public, out.Spread, float64(c.Radius)); err != nil {
		return nil, fmt.Errorf("drawing up a codebook: %w", err)
	}
	first := o.Public.Block([]byte("codes"))
	found, err := cluster.KMeans(ctx, out.points, cluster.Options{
		Clusters: Codes(o.Records, o.Count, o.Clusters), Restarts: starts, MaxIterations: iterations,
		Rand: rand.New(rand.NewChaCha8([32]byte(first[:32]))), Workers: max(o.Workers, 1),
	})
	if err != nil {
		return nil, fmt.Errorf("drawing up a codebook: %w", err)
	}
	codes, _ := found.Centroids.Dims()
	for i := range codes {
		code := make([]int64, q)
		for a := range code {
			code[a] = bounded(found.Centroids.At(i, a), c.Radius)
		}
		dp.ClipL2(code, c.Radius)
		c.Codes = append(c.Codes, code)
	}
	out.distortion = distortion(out.points, c.Codes)
	return out, nil
}

// bounded rounds a real to an integer within ±most.
func bounded(v float64, most int64) int64 {
	return int64(max(-float64(most), min(math.Round(v), float64(most))))
}

// gaussianUnit is one standard deviation in entries of the family projection.Gaussian.
const gaussianUnit = 1 << 12

// points draws the public points from a normal distribution with these variances, cut to the radius
// as records are. Every machine draws the same integers.
func points(source projection.Source, spread []float64, radius float64) (*mat.Dense, error) {
	q := len(spread)
	labels := make([][]byte, q)
	for a := range labels {
		labels[a] = binary.BigEndian.AppendUint32(nil, uint32(a))
	}
	drawn, err := projection.Fix(projection.Spec{Family: projection.Gaussian, K: publicPoints}, source, labels)
	if err != nil {
		return nil, fmt.Errorf("drawing public points: %w", err)
	}
	out, along, axis := mat.NewDense(publicPoints, q, nil), make([]int64, publicPoints), make([]int64, q)
	for a, v := range spread {
		clear(axis)
		axis[a] = 1
		drawn.Project(along, axis)
		deviation := math.Sqrt(v) / gaussianUnit
		for i, e := range along {
			out.Set(i, a, float64(e)*deviation)
		}
	}
	for i := range publicPoints {
		row := out.RawRowView(i)
		var square float64
		for _, v := range row {
			square += float64(v * v)
		}
		if length := math.Sqrt(square); length > radius {
			for a := range row {
				row[a] *= radius / length
			}
		}
	}
	return out, nil
}

// distortion returns the mean squared distance of points from their nearest code point.
func distortion(points *mat.Dense, codes [][]int64) float64 {
	n, q := points.Dims()
	var sum float64
	for i := range n {
		least := math.Inf(1)
		for _, code := range codes {
			var far float64
			for a, v := range points.RawRowView(i)[:q] {
				off := v - float64(code[a])
				far += float64(off * off)
			}
			least = min(least, far)
		}
		sum += least
	}
	return sum / float64(n)
}
