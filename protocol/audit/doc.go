// Package audit tests the mechanism of a plan by running it as in a study: on made-up data that
// differ as much as possible, through projection, clipping, noise and encoding. It finds how far a
// change of one record moves an exact sketch, and how well releases of the two data sets can be
// told apart. Package kernel/audit judges the plan's claim by that.
package audit
