// Package runs finds repeated ids among any number of records in bounded memory. Each record is an
// entry of keyed digests; entries are sorted in runs on disk, and the runs are merged as a stream.
//
// A Sorter holds 2¹⁹ entries at a time, 24 MiB, and merges at most 256 runs at once through buffers
// of 64 KiB. If there are more runs, it first merges them into fewer, longer ones. The disk holds
// 44 bytes for each record, twice that during such a merge.
package runs
