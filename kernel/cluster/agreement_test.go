package cluster

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestAgreementByHand(t *testing.T) {
	for _, test := range []struct {
		a, b []int
		want float64
	}{
		{nil, nil, 1},
		{[]int{0, 0, 1, 1}, []int{7, 7, -3, -3}, 1},
		{[]int{0, 0, 1, 1}, []int{1, 1, 1, 1}, 0.5},
		{[]int{0, 0, 0, 1, 1, 2}, []int{0, 0, 1, 1, 1, 1}, 4.0 / 6},
		{[]int{0, 1, 2}, []int{5, 5, 5}, 1.0 / 3},
		// Matching the largest overlap first (3) would leave 0; the best matching is 2 + 2.
		{[]int{0, 0, 0, 0, 0, 1, 1}, []int{0, 0, 0, 1, 1, 0, 0}, 4.0 / 7},
	} {
		if got, err := Agreement(test.a, test.b); err != nil || math.Abs(got-test.want) > 1e-15 {
			t.Errorf("agreement of %v and %v is %g, %v, want %g", test.a, test.b, got, err, test.want)
		}
	}
	if _, err := Agreement([]int{1}, nil); err == nil {
		t.Error("labels of different lengths are not refused")
	}
}

func TestAssignmentIsTheBestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		cost := make([][]float64, n)
		for i := range cost {
			for range n {
				cost[i] = append(cost[i], float64(rapid.IntRange(-9, 9).Draw(t, "cost")))
			}
		}
		var got float64
		used := make([]bool, n)
		for i, j := range assignment(cost) {
			if used[j] {
				t.Fatalf("column %d is used twice", j)
			}
			used[j] = true
			got += cost[i][j]
		}
		if want := leastCost(cost, 0, make([]bool, n)); got != want {
			t.Fatalf("cost %g, the least is %g", got, want)
		}
	})
}

// leastCost tries every permutation.
func leastCost(cost [][]float64, i int, used []bool) float64 {
	if i == len(cost) {
		return 0
	}
	best := math.Inf(1)
	for j := range cost {
		if !used[j] {
			used[j] = true
			best = math.Min(best, cost[i][j]+leastCost(cost, i+1, used))
			used[j] = false
		}
	}
	return best
}

func TestMajorityShare(t *testing.T) {
	for _, test := range []struct {
		labels []int
		want   float64
	}{{nil, 0}, {[]int{4}, 1}, {[]int{1, 2, 2, 3}, 0.5}} {
		if got := MajorityShare(test.labels); got != test.want {
			t.Errorf("majority share of %v is %g, want %g", test.labels, got, test.want)
		}
	}
}
