// Package forecast says how far an answer will err before anything is sketched, from
// public numbers alone: a projection, the noise that dp calibrates, and the magnitudes
// that columns or records are expected to have.
//
// # One formula each
//
// The noise is never worked out here: it comes as dp.Calibrate made it. On the columns
// side a [Pair] is the Gram matrix that two columns have on average, and its forecasts
// are the deviations that package estimate gives for it. On the records side a [Law] is
// this: for sketches of k coordinates with noise of variance v and fourth
// cumulant κ each,
//
//	Var |s(x) − s(y)|² = Var_R |zR|² + 8v|z|² + 8kv² + 2kκ,  z = x − y,
//
// and where bits were flipped before the projection, what [Law.Distance] makes of it.
// [Groups] are means of such distances over all pairs of records.
//
// # What is assumed
//
// Columns are uncorrelated, where most estimates err most; the records that two parties
// share are a random part of each; a record's values are independent where clipping is
// concerned. A forecast is as true as the magnitudes that it is given.
package forecast
