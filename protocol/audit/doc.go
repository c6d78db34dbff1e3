// Package audit tries the mechanism of a plan, as it would run: on made-up data that differ most, through projection,
// clipping, noise and encoding. It finds how far a change of one record moves an exact sketch, and how well
// releases of the two can be told apart; package kernel/audit judges by that what a plan claims.
package audit
