package sketch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/projection"
)

// corrected is m records of n entries, of which every third is halved, in parts.
type corrected struct {
	labels [][]byte
	x      []int64
	ending []int64
}

func (c corrected) part(_, from, to int) Part {
	n := len(c.x) / len(c.labels)
	p := Part{Labels: c.labels[from:to], X: c.x[from*n : to*n]}
	for i := from; i < to; i++ {
		if i%3 == 0 {
			p.Corrected = append(p.Corrected, c.labels[i])
			for _, v := range slices.Concat(c.x[i*n:][:n], c.ending) {
				p.Corrections = append(p.Corrections, v/2-v)
			}
		}
	}
	return p
}

// written returns the records with their common ending and corrections applied.
func (c corrected) written() (whole []int64) {
	n := len(c.x) / len(c.labels)
	for i := range c.labels {
		for _, v := range slices.Concat(c.x[i*n:][:n], c.ending) {
			if i%3 == 0 {
				v /= 2
			}
			whole = append(whole, v)
		}
	}
	return whole
}

// A common ending and corrections give the same sums as complete records.
func TestPartsEqualWholeRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]projection.Spec{sparse, rademacher}).Draw(t, "spec")
		m, n := rapid.IntRange(1, 200).Draw(t, "m"), rapid.IntRange(1, 4).Draw(t, "n")
		var c corrected
		c.labels, c.x = data(0, m, n)
		c.ending = rapid.SliceOfN(rapid.Int64Range(-largest, largest), 0, 2).Draw(t, "ending")
		options := ColumnsOptions{Columns: n + len(c.ending), Largest: largest}
		one := newColumns(t, spec, options)
		must(t, one.Add(c.labels, c.written()))
		options.Ending, options.Workers = c.ending, rapid.IntRange(1, 3).Draw(t, "workers")
		two := newColumns(t, spec, options)
		must(t, two.AddParts(m, c.part))
		if !slices.Equal(one.Sketch().Data, two.Sketch().Data) || two.Records() != int64(m) {
			t.Fatalf("%v: %d records in parts add up to something else", spec, two.Records())
		}
	})
}

// Refusing a batch also undoes its corrections and endings.
func TestRefusedPartsLeaveNoTrace(t *testing.T) {
	for _, spec := range []projection.Spec{sparse, rademacher} {
		for _, at := range []int{0, 1500, 2999} {
			c := corrected{ending: []int64{7}}
			c.labels, c.x = data(0, 3000, 2)
			b := newColumns(t, spec, ColumnsOptions{Columns: 3, Ending: c.ending, Largest: largest, Workers: 3})
			must(t, b.AddParts(3000, c.part))
			before := b.Sketch()
			c.x[2*at+1] = largest + 1
			if err := b.AddParts(3000, c.part); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("entry (%d, 2)", at+1)) {
				t.Errorf("%v: error %v, want entry (%d, 2)", spec, err, at+1)
			}
			if !slices.Equal(before.Data, b.Sketch().Data) || b.Records() != 3000 {
				t.Errorf("%v: a batch refused at record %d left a trace", spec, at)
			}
		}
	}
}

func TestEndingsRefused(t *testing.T) {
	matrix, err := projection.New(sparse, keyed{})
	must(t, err)
	for _, o := range []ColumnsOptions{
		{Columns: 1, Ending: []int64{1}, Largest: 1}, {Columns: 1, Ending: []int64{1, 1}, Largest: 1},
		{Columns: 2, Ending: []int64{2}, Largest: 1}, {Columns: 2, Ending: []int64{-2}, Largest: 1},
	} {
		if _, err := NewColumns(matrix, o); err == nil {
			t.Errorf("columns builder with %+v", o)
		}
	}
}
