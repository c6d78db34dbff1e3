package projection

import (
	"math"

	"github.com/cosketch/cosketch/kernel/projection/kernels"
)

// kernels.SignProduct multiplies rows of signs by data of up to 16 bits. The records side computes
// X·R. The columns side computes Xᵀ·R over blocks of records; its transpose is the block's sum of
// outer products. Wider data are multiplied row by row, with the same result.

// signProduct is a fixed matrix of signs.
type signProduct struct {
	rows  []row
	signs kernels.Signs
}

// chunk is the approximate number of int16 entries of x that are narrowed before they are
// multiplied, so that they stay in the second-level cache.
const chunk = 1 << 17

func (p *signProduct) multiply(y, x []int64, s *scratch) {
	k, d := p.signs.K, len(p.rows)
	m, most := len(x)/d, max(chunk/d, 1)
	clear(y)
	for from := 0; from < m; from += most {
		to := min(from+most, m)
		p.add(y[from*k:to*k], x[from*d:to*d], to-from, s)
	}
}

// add adds the projections of m records to y.
func (p *signProduct) add(y, x []int64, m int, s *scratch) {
	d, stride := len(p.rows), 2*p.signs.Pairs
	narrow := grow(&s.narrow, kernels.PaddedRows(m)*stride)
	if d == stride {
		if kernels.Narrow(s.level, narrow[:m*d], x) {
			kernels.SignProduct(s.level, y, narrow, m, p.signs)
			return
		}
	} else if s.narrowPadded(narrow, x, d) {
		kernels.SignProduct(s.level, y, narrow, m, p.signs)
		return
	}
	for i := range m {
		projectRows(y[i*p.signs.K:][:p.signs.K], p.rows, x[i*d:][:d])
	}
}

// narrowPadded narrows rows of d entries to rows of d+1 entries, the last of which is zero. It
// reports whether all entries fit.
func (s *scratch) narrowPadded(narrow []int16, x []int64, d int) bool {
	for i := range len(x) / d {
		row := narrow[i*(d+1):][:d+1]
		if !kernels.Narrow(s.level, row[:d], x[i*d:][:d]) {
			return false
		}
		row[d] = 0
	}
	return true
}

// Limits of a block of records. It is large enough that making its sums costs far more than adding
// them to U, and small enough that its signs take little memory.
const (
	mostRecords  = 1024
	leastRecords = 32
	signWords    = 1 << 18 // 2 MiB
)

// fewRecords is the largest number of records that are added one by one.
const fewRecords = 8

func (r *rademacherRow) addOuters(u []int64, source Source, labels [][]byte, x []int64, s *scratch) {
	n := len(x) / len(labels)
	most := min(max(signWords*64/r.k/2*2, leastRecords), mostRecords)
	for from := 0; from < len(labels); from += most {
		to := min(from+most, len(labels))
		block := x[from*n : to*n]
		if to-from <= fewRecords || !kernels.Within(s.level, block, math.MaxInt16) {
			for i, label := range labels[from:to] {
				r.draw(source, label)
				r.addOuter(u, block[i*n:][:n])
			}
			continue
		}
		signs := r.drawSigns(source, labels[from:to], s)
		addTransposedProduct(u, signs, s.transpose(block, n, signs.Pairs), n, s)
	}
}

// drawSigns packs the rows of labels, a few at a time, so that packing writes whole cache lines.
func (r *rademacherRow) drawSigns(source Source, labels [][]byte, s *scratch) kernels.Signs {
	const few = 8
	pairs, stride := (len(labels)+1)/2, len(r.signs)
	signs := kernels.Signs{K: r.k, Pairs: pairs, Words: grow(&s.signs, kernels.Words(r.k, pairs))}
	bytes := grow(&s.bytes, few*stride)
	blocks := grow(&s.blocks, len(labels))
	blocksOf(source, blocks, labels)
	for i := 0; i < len(labels); i += few {
		drawn := min(few, len(labels)-i)
		for j := range drawn {
			source.Expand(&blocks[i+j], bytes[j*stride:][:stride])
		}
		signs.Set(i/2, bytes[:drawn*stride], stride)
	}
	return signs
}

// transpose returns the columns of x, whose rows have length n, as int16 rows of 2·pairs records.
// All entries must fit. Missing records at the end are zero.
func (s *scratch) transpose(x []int64, n, pairs int) []int16 {
	const cached = 32 // records per step, which fit the first-level cache
	m, stride := len(x)/n, 2*pairs
	narrow := grow(&s.narrow, kernels.PaddedRows(n)*stride)
	for from := 0; from < m; from += cached {
		to := min(from+cached, m)
		for j := range n {
			out := narrow[j*stride:][from:to]
			for i := range out {
				out[i] = int16(x[(from+i)*n+j])
			}
		}
	}
	if m < stride {
		for j := range n {
			narrow[j*stride+m] = 0
		}
	}
	return narrow
}

// addTransposedProduct adds (Xᵀ·S)ᵀ to u, K × n, one panel at a time.
func addTransposedProduct(u []int64, signs kernels.Signs, x []int16, n int, s *scratch) {
	sums := grow(&s.numbers, n*kernels.PanelWidth)
	for c := 0; c*kernels.PanelWidth < signs.K; c++ {
		panel := signs.Panel(c)
		sums := sums[:n*panel.K]
		clear(sums)
		kernels.SignProduct(s.level, sums, x, n, panel)
		out := u[c*kernels.PanelWidth*n:][:panel.K*n]
		for i := range panel.K {
			row := out[i*n:][:n]
			for j := range row {
				row[j] += sums[j*panel.K+i]
			}
		}
	}
}
