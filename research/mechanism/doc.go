// Package mechanism compares the mechanisms of this project with those of its sources: the variance
// of a squared distance at equal privacy, by formula and by simulation, and the error of each at
// its best k.
package mechanism
