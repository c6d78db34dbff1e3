// Package held keeps a study's exact sketches between the agreement on the seed and
// the release, while the data may still change: a late shard is added, and withdrawn
// records are taken out, without projecting the others again.
//
// # What is held
//
// A Set is what a party would release, before noise: for each sketch of the columns
// side the sum over all records, for each of the records side one block of rows a
// shard, with the ids of the rows. A shard is one file of the dataset; a query is one
// shard. Sums change by sketch.Add and sketch.Subtract, rows are stacked and dropped.
// All of it is exact, so that after any changes a Set holds, to the bit, what
// projecting the records that are left at once gives.
//
// Beside it stands an index: for each record a keyed digest of its id and one of its
// encoded values. By it a record that is in two shards is found, and a record is taken
// out only if exactly it was put in: subtracting other values would leave a trace of
// both. The ids of withdrawn records are remembered by their digests; they stay out
// when shards are added and when everything is read afresh.
//
// # Who may see it
//
// A Set is as secret as the data it was made from: no noise is in it. It is kept in
// files of mode 0600 in the state directory, outside the database, and is destroyed
// with the seed: when the release is stored, or when the study has ended without one.
//
// # Crashes and memory
//
// A change writes new files beside the old ones and then commits a manifest that lists
// what counts; before that nothing has changed, after it everything has. The index is
// sorted and merged as a stream, however many records there are. In memory are the
// sums, one shard's rows at a time, 16 bytes for each withdrawn record, and 24 MiB of
// digests being sorted.
package held
