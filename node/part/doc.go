// Package part makes the exact sketch of a dataset that is too large for one machine. Workers near
// the data each make a part of it, and the node adds up the parts.
//
// # How it fits in
//
// Sketches are exact integers that can be added in any order. So a part is what package held stores
// for one file of a dataset: the sums of its records, their rows, and an index of keyed digests. If
// a dataset is elsewhere, parts take the place of its files. All other steps stay: the steward's
// decision, the check, the debit, the noise, the store. Only the node draws noise, for the sum
// of all parts. No message, hash or debit of a study depends on where its rows were read.
//
//	party run              agrees on the seed, and waits for the steward
//	party advanced sketch   writes the job            Job
//	party advanced part     reads a shard, by a job   Make
//	party advanced sketch   adds up the parts         Look, Sorted, File.Read; held.Set.Sum
//	party advanced release  decides
//
// # The job
//
// A Job holds the study's bytes and meaning, and how to read the dataset. It holds the keys that
// rows of sketches take from the seed (none for sums of moments and counts), never the seed itself.
// And it holds the key of the digests, and a public key made for this job. The code that reads rows
// for party run reads them here too. The program refuses a study that it would understand
// differently. Whoever has a job can find out whose records are in a part, so a job is as secret as
// the data. Its id is the SHA-256 of its bytes: every setting that changes a row makes another job,
// whose parts cannot be added to these.
//
// # The part
//
// A part is a line that names its job and shard, followed by a bundle (package bundle) sealed to
// the job's public key. The private key is stored with the held sketch and destroyed with it. The
// bundle holds the line again, runs of index entries, rows, ids if rows need them, sums, and last
// the counts. It has no noise. A truncated or changed one does not open.
//
// # What is refused
//
// The following are refused by name: a part of another study, dataset or job; a shard that is
// missing or repeated, or numbered out of another total; a part that does not open; an id that is
// in two parts, which the node finds by merging their runs (package runs). Then nothing changes,
// and no part is removed. A study that draws noise into values as they are read, or that has a
// second round, is refused before a job is written.
//
// # A first look
//
// A study that standardises by a party's own values has two jobs. Parts of the first add up to the
// sums from which the look is drawn. The steward releases the look, and the node debits, draws and
// stores it as usual. The second job contains the look, and the held sketch is bound to it: a
// sketch made with another look does not count.
//
// # Memory
//
// A worker holds its sums, 2¹⁹ index entries of 48 bytes each, 4 MiB of rows and what package
// dataset holds, however many records there are. A part has 44 bytes for each record, plus rows and
// ids if a sketch has rows.
package part
