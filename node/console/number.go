package console

import "github.com/cosketch/cosketch/node/figure"

// interval prints an estimate and its interval, both rounded to the interval's
// width.
func interval(estimate, low, high float64) (number, between string) {
	return figure.Interval(estimate, low, high)
}
