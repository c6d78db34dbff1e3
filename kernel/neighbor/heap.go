package neighbor

// heap holds the nearest points of a query so far, the farthest on top.
type heap struct {
	squared []float64
	index   []int32
	found   *int32
}

func (s *searcher) heap(query int) heap {
	from, to := query*s.Neighbors, (query+1)*s.Neighbors
	return heap{s.squared[from:to], s.index[from:to], &s.found[query]}
}

func (h heap) full() bool { return int(*h.found) == len(h.squared) }

// farther reports whether entry i comes after entry j.
func (h heap) farther(i, j int) bool {
	return h.squared[i] > h.squared[j] || h.squared[i] == h.squared[j] && h.index[i] > h.index[j]
}

func (h heap) swap(i, j int) {
	h.squared[i], h.squared[j] = h.squared[j], h.squared[i]
	h.index[i], h.index[j] = h.index[j], h.index[i]
}

// offer adds a point if it is nearer than the farthest. It reports whether the farthest of a full
// heap may have changed. Points must come in order of index.
func (h heap) offer(squared float64, index int32) bool {
	if h.full() {
		if squared >= h.squared[0] {
			return false
		}
		h.squared[0], h.index[0] = squared, index
		h.sink(0, len(h.squared))
		return true
	}
	i := int(*h.found)
	h.squared[i], h.index[i] = squared, index
	*h.found++
	for i > 0 && h.farther(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return h.full()
}

// sink moves entry i of the first n to its place.
func (h heap) sink(i, n int) {
	for {
		child := 2*i + 1
		if child >= n {
			return
		}
		if child+1 < n && h.farther(child+1, child) {
			child++
		}
		if !h.farther(child, i) {
			return
		}
		h.swap(i, child)
		i = child
	}
}

// sort puts the nearest first.
func (h heap) sort() {
	for n := len(h.squared) - 1; n > 0; n-- {
		h.swap(0, n)
		h.sink(0, n)
	}
}
