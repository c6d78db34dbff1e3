// Package stream gives every label its pseudorandom bytes under a row key, and
// fixes what the labels of records and columns are.
//
// Bytes are addressed by label, never by position: they do not depend on the order
// or number of calls, so any number of goroutines and machines get the same.
package stream
