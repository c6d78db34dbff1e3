// Package stream returns the pseudorandom bytes of a label under a row key, and defines the labels
// of records and columns.
//
// Bytes are addressed by label, never by position. They do not depend on the order or number of
// calls, so every goroutine and machine gets the same bytes.
package stream
