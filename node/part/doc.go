// Package part makes the exact sketch of a dataset that is too large for one machine: workers beside the data each make
// a part of it, and the node adds the parts up.
//
// # Where it fits
//
// Sketches are exact integers that add in any order. So a part is no other thing than what package held keeps for one
// file of a dataset: the sums of its records, their rows, and an index of keyed digests. A dataset that is elsewhere is
// held from its parts in the place of its files, and the rest of the way is as ever: the steward's decision, the check,
// the debit, the noise, the store. Noise is drawn by the node alone, from the sum of all parts. No message, hash or
// debit of a study depends on where its rows were read.
//
//	party run              agrees on the seed, and waits for the steward
//	party advanced sketch   writes the job            Job
//	party advanced part     reads a shard, by a job   Make
//	party advanced sketch   adds the parts up         Open, Reader.Each; held.Set.Sum
//	party advanced release  decides
//
// # The job
//
// A Job has the study's bytes and its meaning, how the dataset is read, the keys that rows of sketches take from the
// seed (of sums of moments and counts: none; never the seed), the key of the digests, and a public key made for this job
// alone. Rows are read by the code that reads them for party run, and the program refuses a study that it would
// understand otherwise. Whoever has a job can find out of whom a part is: it is as secret as the data. Its name is the
// SHA-256 of its bytes, so that every setting that changes a row makes another job, whose parts do not add to these.
//
// # The part
//
// A part is a line that says to which job and shard it belongs, and a bundle (package bundle) sealed to the job's public
// key, whose private half is kept with the held sketch and ends with it. In the bundle are the line again, runs of
// index entries, rows, ids where rows need them, sums, and at last counts. It has no noise; a truncated or changed one
// does not open.
//
// # What is refused, by name
//
// A part of another study, of another dataset, of another job; a shard that is missing, that is there twice or is
// counted otherwise; a part that does not open; an id that is in two parts, which the node finds by merging their runs
// (package runs). Nothing changes then, and no part is removed. A study whose noise is drawn into values as they are
// read, or that has a second round, is refused before a job is written.
//
// # A first look
//
// A study that standardises by a party's own values has two jobs. Parts of the first add up to what the look is drawn
// of; the steward releases that, and the node debits, draws and keeps the look as ever. The second job has the look, and
// what is held names it: a sketch that was made by another look is none.
//
// # Memory
//
// A worker holds its sums, 2¹⁹ index entries of 48 bytes each, 4 MiB of rows and what package dataset holds, however
// many records there are. A part has 44 bytes for each record, beside rows and ids where a sketch has rows.
package part
