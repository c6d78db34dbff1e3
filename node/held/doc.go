// Package held keeps a study's exact sketches between the agreement on the seed and the release.
// Meanwhile the data may change: late shards can be added and records withdrawn without projecting
// the other records again.
//
// # What is held
//
// A Set is what a party would release, before noise. For each columns-side sketch it holds the sum
// over all records. For each records-side sketch it holds one block of rows per shard, with the ids
// of the rows. A shard is one file of the dataset; a query is one shard. Sums change by sketch.Add
// and sketch.Subtract; rows are appended and dropped. All of it is exact: after any changes a Set
// equals, to the bit, what projecting the remaining records in one pass gives.
//
// An index holds for each record a keyed digest of its id and one of its encoded values. It shows
// whether a record is in two shards. A record can be withdrawn only with exactly the values that
// were added: subtracting others would leave a trace of both. The ids of withdrawn records are
// remembered as digests; they stay out when shards are added and when everything is read afresh.
//
// # Who may see it
//
// A Set is as secret as the data: it contains no noise. It is kept in files of mode 0600 in the
// state directory, outside the database. It is destroyed with the seed: when the release is stored,
// or when the study has ended without one.
//
// # Crashes and memory
//
// A change writes new files beside the old ones and then commits a manifest that lists the valid
// files. Before the commit nothing has changed, after it everything has. The index is sorted and
// merged as a stream, however many records there are. Memory holds the sums, one shard's rows at a
// time, 16 bytes for each withdrawn record, and 24 MiB of digests being sorted.
package held
