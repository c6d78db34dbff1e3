// Package bench compares this project's projections with those of scikit-learn, numpy and scipy,
// and its nearest neighbours and k-means with those of scikit-learn and faiss, in one run on one
// machine. Our neighbours are exact. k-means starts by greedy k-means++ everywhere except in faiss.
//
// The others run in a child process, from an embedded script, and only if the system's Python has
// scikit-learn. All work on data in memory of 8 bytes per entry, and allocate their results: int64
// here, float64 there. Ours sum exactly and check that every entry is in range; the others round.
// On the columns side ours hash every id to its row of R, while the others get R as a matrix. One
// line of ours also gets R and skips the check, for a like-for-like comparison. Times are the best
// of several runs.
//
// RunFiles measures the party program instead: processes that only read generated files, and
// processes that read and project them, with their memory.
package bench
