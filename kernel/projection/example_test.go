package projection_test

import (
	"crypto/sha512"
	"fmt"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/projection"
)

// source derives bytes from labels. Studies use the source of package seed/stream, under a key of
// their seed.
type source struct{}

func (source) Block(label []byte) [64]byte { return sha512.Sum512(label) }

func (source) Expand(block *[64]byte, dst []byte) {
	rand.NewChaCha8([32]byte(block[:32])).Read(dst)
}

// Two parties hold one column each about the same records. Each derives the rows of R from the
// records' ids, and sums its values times these rows. Inner products are preserved on average.
func ExampleMatrix() {
	spec := projection.Spec{Family: projection.Rademacher, K: 4096}
	sketch := func(value func(i int) int64) []int64 {
		matrix, err := projection.New(spec, source{}) // the same at both
		if err != nil {
			panic(err)
		}
		u := make([]int64, spec.K)
		for i := range 1000 {
			matrix.AddOuter(u, fmt.Append(nil, "record ", i), []int64{value(i)})
		}
		return u
	}
	age := sketch(func(i int) int64 { return int64(i % 50) })
	dose := sketch(func(i int) int64 { return int64(i % 50) })
	var product int64
	for j := range age {
		product += age[j] * dose[j]
	}
	fmt.Printf("%.0f beside 808500\n", float64(product)*spec.Scale()*spec.Scale())
	// Output:
	// 788764 beside 808500
}

// Parties that hold different records of the same columns project each record.
func ExampleFixed() {
	columns := [][]byte{[]byte("age"), []byte("dose"), []byte("weight")}
	fixed, err := projection.Fix(projection.Spec{Family: projection.Rademacher, K: 2}, source{}, columns)
	if err != nil {
		fmt.Println(err)
		return
	}
	y := make([]int64, 2)
	fixed.Project(y, []int64{1, 10, 100})
	fmt.Println(fixed.Columns(), y)
	// Output:
	// 3 [91 111]
}
