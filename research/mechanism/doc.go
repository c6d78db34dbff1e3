// Package mechanism sets the mechanisms of this project beside those of its sources: the
// variance of a squared distance at equal privacy, by formula and by simulation, and
// the error at each one's best k.
package mechanism
