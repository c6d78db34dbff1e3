package forecast_test

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/forecast"
)

// The length to cut records to if the standard error of means of its ten entries is a twentieth of
// a spread, in units of a typical record's length.
func ExampleClipRule() {
	fmt.Printf("%.2f\n", forecast.ClipRule(10, 0.05))
	// Output:
	// 1.45
}

// The error falls with more dimensions, and then rises, since each has its own noise.
func ExampleSearch() {
	k, least, err := forecast.Search(64, 4096, func(k int) (float64, error) { return 1000/float64(k) + float64(k)/1000, nil })
	fmt.Printf("k = %d: %.2f %v\n", k, least, err)
	// Output:
	// k = 1024: 2.00 <nil>
}
