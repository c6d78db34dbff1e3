// Package forecast computes the errors of answers before anything is sketched. It uses public
// numbers only: a projection, the noise that dp calibrates, and the expected magnitudes of columns
// or records.
//
// # One formula each
//
// The noise comes from dp.Calibrate. On the columns side a [Pair] is the expected Gram matrix of
// two columns, and its forecasts are the standard errors that package estimate gives for it. On the
// records side a [Law] is, for sketches of k coordinates with noise of variance v and fourth
// cumulant κ each,
//
//	Var |s(x) − s(y)|² = Var_R |zR|² + 8v|z|² + 8kv² + 2kκ,  z = x − y.
//
// If bits were flipped before the projection, [Law.Distance] uses another formula. [Groups] are means
// of such distances over all pairs of records.
//
// # Assumptions
//
// Columns are uncorrelated, the worst case of most estimates. The records that two parties share
// are a random part of each. For clipping, a record's values are independent.
package forecast
