package fixedpoint_test

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
)

// A value becomes an integer by public numbers alone, and what lies outside becomes the bound.
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
