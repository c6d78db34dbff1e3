package projection_test

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/seed/stream"
)

// Two parties hold a column each about the same records. Each makes the rows of R from the
// records' ids, and sums its column times these rows: inner products are kept on average.
func ExampleMatrix() {
	spec := projection.Spec{Family: projection.Rademacher, K: 4096}
	rows := stream.New([32]byte{7}) // the key is the same at both
	sketch := func(value func(i int) int64) []int64 {
		matrix, err := projection.New(spec, rows)
		if err != nil {
			panic(err)
		}
		u := make([]int64, spec.K)
		for i := range 1000 {
			matrix.AddOuter(u, stream.VerticalRecordLabel(fmt.Append(nil, "record ", i)), []int64{value(i)})
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
	// 802791 beside 808500
}

// Parties that hold different records of the same columns project each record.
func ExampleFixed() {
	columns := [][]byte{stream.ColumnLabel("age"), stream.ColumnLabel("dose"), stream.ColumnLabel("weight")}
	fixed, err := projection.Fix(projection.Spec{Family: projection.Rademacher, K: 2}, stream.New([32]byte{7}), columns)
	if err != nil {
		fmt.Println(err)
		return
	}
	y := make([]int64, 2)
	fixed.Project(y, []int64{1, 10, 100})
	fmt.Println(fixed.Columns(), y)
	// Output:
	// 3 [89 -109]
}
