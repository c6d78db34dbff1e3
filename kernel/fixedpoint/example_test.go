package fixedpoint_test

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
)

// A value is encoded with public numbers only. A value outside the bounds becomes the nearer bound.
func ExampleBounds() {
	age, err := fixedpoint.Bounds(0, 120)
	if err != nil {
		fmt.Println(err)
		return
	}
	const bits fixedpoint.Bits = 10
	fmt.Println(age.Encode(30, bits))
	fmt.Println(age.Encode(130, bits))
	fmt.Println(age.Step(bits), "years are a step")
	// Output:
	// 256 false
	// 1024 true
	// 0.1171875 years are a step
}
