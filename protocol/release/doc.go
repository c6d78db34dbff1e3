// Package release says what one party ships in a study, exactly: for every
// sketch its plan (features, clipping, sensitivity, noise, shape, limits), the
// builder that turns encoded records into the exact sketch, and the header and
// chunks in which the noised sketch travels.
//
// The plan is a function of the study alone, so the aggregator computes the same
// one and never has to believe a header about scale or noise.
package release
