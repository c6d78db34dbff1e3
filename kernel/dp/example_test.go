package dp_test

import (
	"bytes"
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
)

// A party releases a columns-side sketch of sparse signs (s = 1) in which one attribute
// of one record may change by 1024 steps, and gives it 70 % of its budget.
func Example() {
	whole, err := dp.Promise(dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	part, err := whole.Share(0.7)
	if err != nil {
		fmt.Println(err)
		return
	}
	sensitivity, err := dp.AttributeColumns(dp.RowNorms{L1: 1, L2Squared: 1}, []int64{1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	noise, err := dp.Calibrate(part, sensitivity)
	if err != nil {
		fmt.Println(err)
		return
	}
	sketch := make([]int64, 4)
	entropy := bytes.NewReader(make([]byte, 32)) // crypto/rand.Reader in a program
	if err := noise.Add(sketch, entropy); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(part)
	fmt.Println(noise)
	// Output:
	// ε = 0.8254, δ = 1e-06
	// discrete gaussian noise of variance 26735569
}
