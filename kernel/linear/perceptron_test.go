package linear

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// separable returns points with coordinates in [-1, 1] and margin γ from a plane through zero, in
// coordinates that include the bias.
func separable(rng *rand.Rand, n, d int, margin float64) Data {
	normal := make([]float64, d+1)
	var length float64
	for j := range normal {
		normal[j] = rng.NormFloat64()
		if j == d {
			normal[j] *= 0.1 // so that both classes occur
		}
		length += normal[j] * normal[j]
	}
	out := Data{Points: mat.NewDense(n, d, nil), Classes: 2}
	for i := 0; i < n; {
		side := normal[d]
		for j := range d {
			v := 2*rng.Float64() - 1
			out.Points.Set(i, j, v)
			side += normal[j] * v
		}
		if side /= math.Sqrt(length); math.Abs(side) < margin {
			continue
		}
		label := 0
		if side > 0 {
			label = 1
		}
		out.Labels = append(out.Labels, label)
		i++
	}
	return out
}

// TestMistakeBound: on data with margin γ and radius R, in coordinates that include the bias, a
// perceptron makes at most (R/γ)² errors, over all epochs (Novikoff 1962; Freund and Schapire 1999,
// theorem 1), and ends without error. Each voter except the first came from an error.
func TestMistakeBound(t *testing.T) {
	const margin = 0.1
	for run := range uint64(20) {
		rng := rand.New(rand.NewPCG(run, 1))
		d := separable(rng, 300, 4, margin)
		var radius float64
		for i := range d.Labels {
			x := d.Points.RawRowView(i)
			radius = max(radius, dot(x, x)+1)
		}
		for _, voted := range []bool{false, true} {
			m, err := Train(context.Background(), d, Perceptron{Epochs: 1000, Voted: voted, Rand: rng})
			if err != nil {
				t.Fatal(err)
			}
			s := m.Scorers[0]
			if most := radius / (margin * margin); float64(len(s.Planes)-1) > most {
				t.Errorf("%d errors, at most %.0f are possible", len(s.Planes)-1, most)
			}
			last := s.Planes[len(s.Planes)-1]
			for i, label := range d.Labels {
				if (last.At(d.Points.RawRowView(i)) > 0) != (label == 1) {
					t.Fatalf("run %d: the last plane errs on a point", run)
				}
			}
		}
	}
}

// TestVotesByHand follows figure 1 of Freund and Schapire on three points, in the order in which
// the source has them.
func TestVotesByHand(t *testing.T) {
	points := [][]float64{{2, 1}, {-1, 2}, {1, -1.5}}
	labels := []int{1, 0, 0}
	d := Data{Points: mat.NewDense(3, 2, nil), Labels: labels, Classes: 2}
	for i, x := range points {
		d.Points.SetRow(i, x)
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 0))
		w, votes := [3]float64{}, 0
		var planes [][3]float64
		var counts []int
		order := []int{0, 1, 2}
		for range 4 {
			rng.Shuffle(3, func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, i := range order {
				y := float64(2*labels[i] - 1)
				if y*(w[0]*points[i][0]+w[1]*points[i][1]+w[2]) > 0 {
					votes++
					continue
				}
				planes, counts = append(planes, w), append(counts, votes)
				w, votes = [3]float64{w[0] + y*points[i][0], w[1] + y*points[i][1], w[2] + y}, 1
			}
		}
		planes, counts = append(planes, w), append(counts, votes)
		m, err := Train(context.Background(), d, Perceptron{Epochs: 4, Voted: true, Rand: rand.New(rand.NewPCG(seed, 0))})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range [][]float64{{1, 1}, {-1, 0.3}, {0.2, -2}, {3, 0.1}} {
			var balance float64
			for i, p := range planes {
				at := p[0]*x[0] + p[1]*x[1] + p[2]
				if at != 0 {
					balance += float64(counts[i]) * math.Copysign(1, at)
				}
			}
			got := m.Scorers[0].Score(x)
			if (got > 0) != (balance > 0) || (got == 0) != (balance == 0) {
				t.Errorf("seed %d, %v: score %v, by hand %v", seed, x, got, balance)
			}
		}
	}
}

// TestVotersAreBounded also checks that merged voters keep all votes.
func TestVotersAreBounded(t *testing.T) {
	var v voters
	all := 0
	for i := range 5 * MostPlanes {
		v.add(Plane{Weights: []float64{float64(i)}}, i%7)
		all += i % 7
	}
	sum := 0
	for i, n := range v.votes {
		sum += n
		if i > 0 && v.planes[i].Weights[0] <= v.planes[i-1].Weights[0] {
			t.Fatal("out of order")
		}
	}
	if len(v.planes) > MostPlanes || sum != all {
		t.Errorf("%d planes with %d votes, want at most %d with %d", len(v.planes), sum, MostPlanes, all)
	}
}

// TestVoterLimitCostsLittle: on overlapping classes, where errors never end, merging voters changes
// the accuracy by at most two points from that of all voters.
func TestVoterLimitCostsLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	d := Data{Points: mat.NewDense(2000, 6, nil), Classes: 2}
	for i := range 2000 {
		label := i % 2
		d.Labels = append(d.Labels, label)
		for j := range 6 {
			d.Points.Set(i, j, rng.NormFloat64()+0.5*float64(label))
		}
	}
	rows := all(1500)
	task := task{d, rows, 1}
	s, err := Perceptron{Voted: true, Rand: rand.New(rand.NewPCG(1, 1))}.one(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	reference := unboundedVotes(task, 10, rand.New(rand.NewPCG(1, 1)))
	var got, want float64
	for i := 1500; i < 2000; i++ {
		x := d.Points.RawRowView(i)
		if (s.Score(x) > 0) == (d.Labels[i] == 1) {
			got++
		}
		if (reference.Score(x) > 0) == (d.Labels[i] == 1) {
			want++
		}
	}
	if len(reference.Planes) < 2*MostPlanes {
		t.Fatalf("%d voters are no test of the limit", len(reference.Planes))
	}
	if t.Logf("accuracy %.3f, with all %d voters %.3f", got/500, len(reference.Planes), want/500); math.Abs(got-want) > 10 {
		t.Errorf("accuracy %.3f, with all voters %.3f", got/500, want/500)
	}
}

func unboundedVotes(t task, epochs int, rng *rand.Rand) (s Scorer) {
	_, d := t.Points.Dims()
	w, votes, order := Plane{Weights: make([]float64, d)}, 0, all(len(t.rows))
	keep := func() {
		s.Planes = append(s.Planes, Plane{append([]float64(nil), w.Weights...), w.Bias})
		s.Votes = append(s.Votes, votes)
	}
	for range epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			if y := t.sign(i); y*w.At(t.point(i)) > 0 {
				votes++
			} else {
				keep()
				add(w.Weights, y, t.point(i))
				w.Bias += y
				votes = 1
			}
		}
	}
	keep()
	return s
}
