package stream

import "encoding/binary"

// A label is the byte string that a row of R belongs to. Lengths are big-endian uint32. Labels of
// columns and of records are used with different row keys; labels of one kind are unique.

// ColumnLabel returns the label of a column: len‖column.
func ColumnLabel(column string) []byte {
	return appendField(nil, column)
}

// ValueLabel returns the label of one value of a categorical column, which becomes its own column
// by one-hot encoding: len‖column‖len‖value.
func ValueLabel(column, value string) []byte {
	return appendField(appendField(nil, column), value)
}

// VerticalRecordLabel returns the label of a record in a vertical study: its normalised id itself,
// as all parties that hold the record must give it the same row.
func VerticalRecordLabel(id []byte) []byte { return id }

// AppendHorizontalRecordLabel appends to dst the label of a record in a horizontal study:
// len‖party‖id, where party is the raw public key of the party that holds the record. So parties
// share no rows even if all number their records from 1.
func AppendHorizontalRecordLabel(dst []byte, party [32]byte, id []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(party)))
	dst = append(dst, party[:]...)
	return append(dst, id...)
}

// AppendPseudonymLabel appends to dst the input of the keyed hash that is a record's pseudonym in
// one sketch of a study: the sketch's index and the normalised id. Every party that holds the
// record gets the same pseudonym for it. Pseudonyms differ between sketches.
func AppendPseudonymLabel(dst []byte, sketch uint32, id []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, sketch), id...)
}

func appendField(dst []byte, field string) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(field)))
	return append(dst, field...)
}
