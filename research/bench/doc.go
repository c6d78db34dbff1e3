// Package bench measures this project's projections beside those that
// scikit-learn, numpy and scipy have, and its nearest neighbours and k-means beside those
// of scikit-learn and faiss, in one run on one machine. Neighbours of ours are exact;
// k-means starts by greedy k-means++ on both sides but faiss's.
//
// The others run in a child process, from a script that is embedded, and only if
// the system's Python has scikit-learn. All work on data that lie in memory as 8
// bytes per entry, and allocate their results: int64 on this side, float64 on
// that one. Ours sum exactly and check that every entry is
// in range, the others round. On the columns side ours hash every id to its row of R,
// while the others are given R as a matrix; a line of ours that is given R too, and
// does not check, is like for like. Times are the best of several.
//
// RunFiles measures the party program itself instead: processes that read generated
// files, and that read and project them, with the memory that they needed.
package bench
