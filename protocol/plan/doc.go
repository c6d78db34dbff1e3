// Package plan forecasts a study before anything leaves: how far each of its analyses
// will err, how far they would err under every other choice of projection and noise
// that the study's unit allows, and whether the answers are of use at all.
//
// Everything follows from public numbers: the study file, record counts, the overlap of
// the parties' records and the spreads of columns. What is not declared is assumed, and
// every assumption is in the plan. The noise is that of package release, calibrated for
// the study itself or for a copy of it with another choice, so a forecast is of exactly
// what would be released.
//
// What is known of one kind of analysis is a forecaster in a file of that kind, and what
// is known of one side whose sketches sum over records an additive in a file of that side.
// Cells, with their ends, prices and choices, are the same for all, and ask these.
package plan
