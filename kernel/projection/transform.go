package projection

// transform multiplies records by a sampled, signed Hadamard matrix. It is immutable.
//
// The matrix of order 2h is the matrix of order h four times, once negated, so the
// transform of a vector is the sum and the difference of those of its halves. These
// two are computed at once: a word holds an entry a of the first half and b of the
// second as a·2^32 + b. That is linear in a and b, so adding words adds both, and the
// two come apart again exactly while |a| and |b| are below 2^31. Where records are too
// large for that, the halves go one after the other.
type transform struct {
	size  int     // d', a power of two
	keep  []int32 // columns of the Hadamard matrix, by entry of a projected record
	minus []int64 // for each column of the data: −1 where its sign is −, else 0
}

func (t *transform) multiply(y, x []int64, s *scratch) {
	k, d := len(t.keep), len(t.minus)
	words := room(&s.numbers, t.size)
	for i := range len(x) / d {
		yi, xi := y[i*k:(i+1)*k], x[i*d:(i+1)*d]
		if !t.inPairs(yi, xi, words[:max(t.size/2, 1)]) {
			t.oneByOne(yi, xi, words)
		}
	}
}

// inPairs transforms a record x into y with two entries in a word, or reports that
// its entries may be too large for that. words is scratch of half the size.
func (t *transform) inPairs(y, x, words []int64) bool {
	half := len(words)
	first, second := x[:min(half, len(x))], x[min(half, len(x)):]
	var all int64 // has every bit that some entry has, so |v| ≤ all + 1
	signs := t.minus[:len(first)]
	for j, v := range first {
		all |= v ^ v>>63
		words[j] = ((v ^ signs[j]) - signs[j]) << 32
	}
	clear(words[len(first):])
	signs = t.minus[len(first):][:len(second)]
	beside := words[:len(second)]
	for j, v := range second {
		all |= v ^ v>>63
		beside[j] += (v ^ signs[j]) - signs[j]
	}
	if all >= (1<<31-1)/int64(half) {
		return false
	}
	walshHadamard(words)
	for i, column := range t.keep {
		w := words[int(column)&(half-1)]
		b := int64(int32(w))
		a := (w - b) >> 32
		if int(column)&half != 0 {
			b = -b
		}
		y[i] = a + b
	}
	return true
}

// oneByOne transforms a record x into y; words is scratch of the whole size.
func (t *transform) oneByOne(y, x, words []int64) {
	for j, v := range x {
		words[j] = (v ^ t.minus[j]) - t.minus[j]
	}
	clear(words[len(x):])
	walshHadamard(words)
	for i, column := range t.keep {
		y[i] = words[column]
	}
}

// walshHadamard replaces v, whose length is a power of two, by its product with the
// Hadamard matrix of Sylvester's order: entry (i, j) is −1 to the number of ones
// that i and j have in common in binary.
func walshHadamard(v []int64) {
	h := 1
	if len(v) >= 8 {
		eights(v)
		h = 8
	}
	for ; 4*h <= len(v); h *= 4 {
		fours(v, h)
	}
	if h < len(v) {
		twos(v, h)
	}
}

// eights is the first three steps of the transform.
func eights(v []int64) {
	for ; len(v) >= 8; v = v[8:] {
		a, b, c, d := v[0]+v[1], v[0]-v[1], v[2]+v[3], v[2]-v[3]
		e, f, g, h := v[4]+v[5], v[4]-v[5], v[6]+v[7], v[6]-v[7]
		a, b, c, d = a+c, b+d, a-c, b-d
		e, f, g, h = e+g, f+h, e-g, f-h
		v[0], v[1], v[2], v[3] = a+e, b+f, c+g, d+h
		v[4], v[5], v[6], v[7] = a-e, b-f, c-g, d-h
	}
}

// fours is two steps of the transform, for blocks of h and 2h.
func fours(v []int64, h int) {
	for ; len(v) >= 4*h; v = v[4*h:] {
		v0, v1, v2, v3 := v[:h], v[h:][:h], v[2*h:][:h], v[3*h:][:h]
		for i := range v0 {
			a, b, c, d := v0[i]+v1[i], v0[i]-v1[i], v2[i]+v3[i], v2[i]-v3[i]
			v0[i], v1[i], v2[i], v3[i] = a+c, b+d, a-c, b-d
		}
	}
}

// twos is one step of the transform, for blocks of h.
func twos(v []int64, h int) {
	for ; len(v) >= 2*h; v = v[2*h:] {
		v0, v1 := v[:h], v[h:][:h]
		for i := range v0 {
			v0[i], v1[i] = v0[i]+v1[i], v0[i]-v1[i]
		}
	}
}
