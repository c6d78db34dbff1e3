package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// plane returns the distances of random points in a plane.
func plane(rng *rand.Rand, n int) *mat.SymDense {
	points := make([][2]float64, n)
	for i := range points {
		points[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	d := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			d.SetSym(i, j, math.Hypot(points[i][0]-points[j][0], points[i][1]-points[j][1]))
		}
	}
	return d
}

// slow joins the two nearest of all clusters until one is left, from the definitions.
func slow(d *mat.SymDense, linkage Linkage) (heights []float64, sizes []int) {
	n := d.SymmetricDim()
	var clusters [][]int
	for i := range n {
		clusters = append(clusters, []int{i})
	}
	apart := func(a, b []int) float64 {
		var sum, most float64
		least := math.Inf(1)
		within := func(x []int) (s float64) { // squared distances from the centre
			for _, i := range x {
				for _, j := range x {
					s += d.At(i, j) * d.At(i, j) / 2 / float64(len(x))
				}
			}
			return s
		}
		for _, i := range a {
			for _, j := range b {
				x := d.At(i, j)
				sum, most, least = sum+x, math.Max(most, x), math.Min(least, x)
			}
		}
		switch linkage {
		case Average:
			return sum / float64(len(a)*len(b))
		case Complete:
			return most
		case Single:
			return least
		}
		return math.Sqrt(2 * (within(slices.Concat(a, b)) - within(a) - within(b)))
	}
	for len(clusters) > 1 {
		x, y, least := 0, 0, math.Inf(1)
		for i := range clusters {
			for j := range i {
				if h := apart(clusters[i], clusters[j]); h < least {
					x, y, least = i, j, h
				}
			}
		}
		joined := slices.Concat(clusters[x], clusters[y])
		heights, sizes = append(heights, least), append(sizes, len(joined))
		clusters[y] = joined
		clusters = slices.Delete(clusters, x, x+1)
	}
	return heights, sizes
}

func TestHierarchyJoinsTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, linkage := range Linkages() {
		for _, n := range []int{2, 3, 10, 30} {
			d := plane(rng, n)
			got, err := Hierarchy(context.Background(), d, HierarchyOptions{Linkage: linkage})
			if err != nil {
				t.Fatal(err)
			}
			heights, sizes := slow(d, linkage)
			for i, m := range got.Merges {
				if math.Abs(m.Height-heights[i]) > 1e-9 || m.Size != sizes[i] || m.Close {
					t.Errorf("%s of %d: merge %d is %+v, want height %g and size %d", linkage, n, i, m, heights[i], sizes[i])
				}
			}
			sorted := slices.Sorted(slices.Values(got.Leaves))
			for i, leaf := range sorted {
				if leaf != i {
					t.Fatalf("%s of %d: leaves %v", linkage, n, got.Leaves)
				}
			}
		}
	}
}

// Two tight pairs far apart are settled; three points at nearly equal distances are not.
func TestHierarchyMarksWhatErrorsLeaveOpen(t *testing.T) {
	deviations := func(n int, s float64) *mat.SymDense {
		out := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i {
				out.SetSym(i, j, s)
			}
		}
		return out
	}
	for _, linkage := range Linkages() {
		pairs := mat.NewSymDense(4, []float64{0, .1, 1, 1, .1, 0, 1, 1, 1, 1, 0, .2, 1, 1, .2, 0})
		got, err := Hierarchy(context.Background(), pairs, HierarchyOptions{Linkage: linkage, Deviations: deviations(4, 0.05), Quantile: 2})
		if err != nil || got.Merges[0].Close || got.Merges[1].Close || got.Merges[2].Close {
			t.Errorf("%s: %+v, %v", linkage, got, err)
		}
		near := mat.NewSymDense(3, []float64{0, .5, .52, .5, 0, .54, .52, .54, 0})
		got, err = Hierarchy(context.Background(), near, HierarchyOptions{Linkage: linkage, Deviations: deviations(3, 0.1), Quantile: 2})
		if err != nil || !got.Merges[0].Close {
			t.Errorf("%s: %+v, %v", linkage, got, err)
		}
	}
}

func TestHierarchyRefuses(t *testing.T) {
	ctx, two := context.Background(), mat.NewSymDense(2, []float64{0, 1, 1, 0})
	for name, call := range map[string]func() (Tree, error){
		"one point": func() (Tree, error) {
			return Hierarchy(ctx, mat.NewSymDense(1, nil), HierarchyOptions{Linkage: Average})
		},
		"no linkage": func() (Tree, error) { return Hierarchy(ctx, two, HierarchyOptions{}) },
		"standard errors of other points": func() (Tree, error) {
			return Hierarchy(ctx, two, HierarchyOptions{Linkage: Average, Deviations: mat.NewSymDense(1, nil), Quantile: 2})
		},
		"standard errors without a quantile": func() (Tree, error) {
			return Hierarchy(ctx, two, HierarchyOptions{Linkage: Average, Deviations: mat.NewSymDense(2, nil)})
		},
		"NaN": func() (Tree, error) {
			return Hierarchy(ctx, mat.NewSymDense(2, []float64{0, math.NaN(), 0, 0}), HierarchyOptions{Linkage: Ward})
		},
	} {
		if _, err := call(); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Hierarchy(stopped, two, HierarchyOptions{Linkage: Average}); err == nil {
		t.Error("a cancelled computation ends well")
	}
}

// The table and the order of leaves are those of scipy.cluster.hierarchy, ties included.
func TestHierarchyEqualsScipy(t *testing.T) {
	const python = "/usr/bin/python3"
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("runs another program; COSKETCH_FULL=1 asks for it")
	}
	if exec.Command(python, "-c", "import scipy").Run() != nil {
		t.Skip("no " + python + " with scipy")
	}
	rng := rand.New(rand.NewPCG(5, 2))
	for _, linkage := range Linkages() {
		for _, n := range []int{2, 40, 300} {
			d := plane(rng, n)
			if n == 40 { // ties
				for i := range n {
					for j := range i {
						d.SetSym(i, j, math.Ceil(4*d.At(i, j)))
					}
				}
			}
			if n == 40 && linkage == Single {
				continue // scipy uses a spanning tree there, which breaks ties differently
			}
			got, err := Hierarchy(context.Background(), d, HierarchyOptions{Linkage: linkage})
			if err != nil {
				t.Fatal(err)
			}
			var condensed []float64
			for i := range n {
				for j := i + 1; j < n; j++ {
					condensed = append(condensed, d.At(i, j))
				}
			}
			input, _ := json.Marshal(map[string]any{"d": condensed, "method": linkage})
			run := exec.Command(python, "-c", `
import json, sys, scipy.cluster.hierarchy as h
q = json.load(sys.stdin)
z = h.linkage(q["d"], q["method"])
print(json.dumps({"z": z.tolist(), "leaves": h.leaves_list(z).tolist()}))`)
			run.Stdin = bytes.NewReader(input)
			output, err := run.Output()
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Z      [][4]float64
				Leaves []int
			}
			if err := json.Unmarshal(output, &want); err != nil {
				t.Fatal(err)
			}
			for i, m := range got.Merges {
				w := want.Z[i]
				if float64(m.A) != w[0] || float64(m.B) != w[1] || math.Abs(m.Height-w[2]) > 1e-12*w[2] || float64(m.Size) != w[3] {
					t.Fatalf("%s of %d: merge %d is %+v, scipy has %v", linkage, n, i, m, w)
				}
			}
			if !slices.Equal(got.Leaves, want.Leaves) {
				t.Errorf("%s of %d: leaves %v, scipy has %v", linkage, n, got.Leaves, want.Leaves)
			}
		}
	}
}
