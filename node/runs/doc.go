// Package runs finds out, for any number of records and in bounded memory, which ids are repeated: each record is an
// entry of keyed digests, entries are sorted in runs on the disk, and the runs are merged as a stream.
//
// A Sorter holds 2¹⁹ entries at a time, 24 MiB, and merges at most 256 runs at once through buffers of 64 KiB. Where
// there are more, it first merges them to fewer, which are longer: with 44 bytes for each record, twice while it does
// so.
package runs
