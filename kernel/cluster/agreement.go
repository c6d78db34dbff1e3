package cluster

import (
	"fmt"
	"math"
	"slices"
)

// Agreement returns the share of the points on which two groupings agree, once the labels of one
// are matched with the labels of the other in the best way, each with at most one. a and b label
// the same points in the same order; the labels themselves mean nothing. It is 1 for no points.
func Agreement(a, b []int) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("comparing groupings: %d labels against %d", len(a), len(b))
	}
	if len(a) == 0 {
		return 1, nil
	}
	left, n := compact(a)
	right, o := compact(b)
	n = max(n, o)
	cost := make([][]float64, n) // minus the number of points with labels i and j
	for i := range cost {
		cost[i] = make([]float64, n)
	}
	for i, label := range left {
		cost[label][right[i]]--
	}
	var shared float64
	for i, j := range assignment(cost) {
		shared -= cost[i][j]
	}
	return shared / float64(len(a)), nil
}

// MajorityShare returns the share of the points with the most frequent label, which is the
// agreement with a grouping into one cluster. It is 0 for no points.
func MajorityShare(labels []int) float64 {
	if len(labels) == 0 {
		return 0
	}
	numbered, n := compact(labels)
	counts := make([]int, n)
	for _, label := range numbered {
		counts[label]++
	}
	return float64(slices.Max(counts)) / float64(len(labels))
}

// compact numbers the labels from 0 in order of appearance.
func compact(labels []int) (numbered []int, n int) {
	number := make(map[int]int)
	numbered = make([]int, len(labels))
	for i, label := range labels {
		if _, ok := number[label]; !ok {
			number[label] = len(number)
		}
		numbered[i] = number[label]
	}
	return numbered, len(number)
}

// assignment gives each row of a square matrix its own column so that the summed cost is least: the
// Hungarian method with potentials, rows added one by one along a shortest augmenting path, O(n³).
func assignment(cost [][]float64) []int {
	n := len(cost)
	const none = -1
	rowPotential := make([]float64, n)
	columnPotential := make([]float64, n+1)
	owner := slices.Repeat([]int{none}, n+1) // row of a column; column n is where a search starts
	for start := range n {
		owner[n] = start
		column := n
		slack := slices.Repeat([]float64{math.Inf(1)}, n)
		from := make([]int, n)
		visited := make([]bool, n+1)
		for owner[column] != none {
			visited[column] = true
			r, next := owner[column], none
			for j := range n {
				if visited[j] {
					continue
				}
				if reduced := cost[r][j] - rowPotential[r] - columnPotential[j]; reduced < slack[j] {
					slack[j], from[j] = reduced, column
				}
				if next == none || slack[j] < slack[next] {
					next = j
				}
			}
			delta := slack[next]
			for j := range n + 1 {
				if visited[j] {
					rowPotential[owner[j]] += delta
					columnPotential[j] -= delta
				} else if j < n {
					slack[j] -= delta
				}
			}
			column = next
		}
		for column != n {
			owner[column] = owner[from[column]]
			column = from[column]
		}
	}
	columns := make([]int, n)
	for j, r := range owner[:n] {
		columns[r] = j
	}
	return columns
}
