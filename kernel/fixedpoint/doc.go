// Package fixedpoint turns real column values into the small integers that
// sketches are sums of, by public scales that a study states: bounds, or a centre
// and a spread.
//
// Integers make the rest exact: sums in int64 have no rounding and no order, so
// sensitivities are exact integers and every machine gets the same sketch.
package fixedpoint
