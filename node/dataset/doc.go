// Package dataset reads a party's data: a CSV file in, validated batches of
// record ids and fixed-point integers out, streaming in bounded memory.
//
// Open checks the header against a Schema; Next returns one batch after another
// and checks every value on the way; Summary says afterwards what was read,
// clipped, missing and left out. A file that passes once to io.EOF satisfies the
// schema completely.
//
// # What is accepted
//
// Files are UTF-8 (a byte order mark is tolerated) with comma-separated fields
// as in RFC 4180, LF or CRLF line ends, and a first row that names the columns.
// Every row has as many fields as the first; blank lines are passed over. White
// space around a value does not count, and a value that is empty without it is
// missing. Numbers are decimal ("-1.5", "2e3"); binary values are 0 and 1;
// categorical values come from the schema's list. A number outside its column's
// bounds is clipped and counted, never an error. Columns that the schema does not
// name are not looked at.
//
// # What is never said
//
// An error names the file, the line, the column and what was expected. It never
// quotes a value or a record id, so that errors can be logged and sent to the
// person who can help. Even the list of columns is withheld when nothing shows
// that the first row is a header and not data.
//
// # Memory
//
// One batch, one record (Options.MaxRecordBytes at most), and for the detection
// of duplicate ids about 30 to 60 bytes per record.
package dataset
