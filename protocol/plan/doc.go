// Package plan forecasts a study before any data leaves: the errors of its analyses, their errors
// under every other choice of projection and noise that the study's unit allows, and whether the
// answers are of use at all.
//
// Everything follows from public numbers: the study file, record counts, the overlap of the
// parties' records and the spreads of columns. What is not declared is assumed, and the plan lists
// every assumption. The noise is that of package release, calibrated for the study itself or for a
// copy of it with another choice. So a forecast is of exactly what would be released.
//
// What is specific to one kind of analysis is a forecaster, in a file of that kind. What is
// specific to one side whose sketches sum over records is an additive, in a file of that side.
// Cells, with their ends, costs and choices, are common to all, and use these.
package plan
