// Package fixedpoint converts real column values to the small integers that sketches add up. It
// uses public scales that a study states: bounds, or a centre and a spread.
//
// Integers make everything after it exact: sums in int64 have no rounding error and do not depend
// on the order. So sensitivities are exact integers and every machine computes the same sketch.
package fixedpoint
