// Package dataset reads a party's data from files or a database query. It returns validated batches
// of record ids and fixed-point integers, and streams them in bounded memory.
//
// Open checks the header against a Schema. Next returns one batch after another and checks every
// value. Summary counts what was read, clipped, missing and left out. Ids are compared with each
// other at the end, so data satisfy the schema only once Next has returned io.EOF.
//
// # What is accepted
//
// A Source is one or several files, a query, or a program that writes CSV. Columns are found by
// name, in any order; columns that the schema does not name are ignored. White space around a value
// is ignored. An empty or null value is missing. A number outside its column's bounds is clipped
// and counted, never an error. Dates are days since 1970-01-01. Source.Words says what other texts
// or numbers stand for; ids are read as they are.
//
// CSV files are text as in RFC 4180 with LF or CRLF line ends, plain or compressed with gzip or
// zstd. The first row names the columns. Every row has as many fields as the first; blank lines are
// skipped. Numbers are decimal ("-1.5", "2e3"); binary values are 0 and 1; categorical values come
// from the schema's list. A Dialect says how values are written. Delimiter and decimal mark are
// detected if the Dialect leaves them open, such that a wrong guess ends in an error and never in
// other data. UTF-16 is detected by its byte order mark. Windows-1252, thousands separators and the
// form of dates are not guessed: Describe proposes them.
//
// Parquet files hold numbers (integers, floating point, decimals in integers, booleans, dates) and
// strings in columns of their own, not in lists or groups. Excel workbooks are read sheet by sheet:
// numbers as stored, dates by their style. This package reads them itself. Of 200,000 rows of ten
// cells, excelize 2.11 takes 18 s and 42 MiB; this package takes 14 s and 18 MiB. On a workbook of
// 2 MB with one cell of 2 GiB, excelize had not ended after 100 s; this package refuses it within a
// second. excelize also needs six modules more, and its stream of rows does not distinguish dates
// from numbers. SQL queries run on SQLite and PostgreSQL in read-only transactions.
//
// # What errors do not reveal
//
// An error names the file, the line or row, the column and what was expected. It never quotes a
// value or a record id, so it can be logged and sent to the person who can help. A database's
// message is withheld if it may quote one. Even the list of columns is withheld if nothing shows
// that the first row of a CSV file is a header and not data.
//
// # Goroutines and memory
//
// One goroutine reads ahead, Options.Workers goroutines parse, and the caller takes batches in the
// order of the source; Close waits for all of them. The number of workers and the sizes of batches
// affect neither the records, nor the counts, nor which error is reported. Memory holds:
//
//   - a few blocks of records: 1 MiB of text and about 2 MiB of integers for each
//     worker and two more, less of each with many workers;
//   - one record of at most Options.MaxRecordBytes;
//   - one page of each Parquet column that is read;
//   - 24 MiB for comparing ids, however many records there are. The rest is spilled
//     to Options.SpillDir as keyed hashes, 24 bytes a record.
//
// Another Options.Workers goroutines decode the pages of Parquet columns, each a column at a time.
// The columns of a block are encoded one after the other.
package dataset
