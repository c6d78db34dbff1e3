package file

import (
	"strconv"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// meaning hashes a deterministic encoding of the study with its defaults filled in: see Encoding.
//
// The encoding is a sequence of pairs len‖path ‖ len‖value in the order of the tables of keys.
// Texts are their UTF-8 bytes, whole numbers their decimal digits, real numbers their IEEE 754 bits
// as a big-endian uint64, lists their length followed by their elements. Parties come in the order
// of their keys, everything else in the file's order. A value is encoded even if this version knows
// no other: a later version with another default must not agree on the meaning.
func meaning(s *study.Study) protocol.Digest {
	return protocol.Hash("study meaning", Encoding(s))
}

// Encoding returns the bytes that a study's meaning is the hash of.
func Encoding(s *study.Study) []byte {
	e := &schema.Encoder{}
	studyKeys().Encode(e, s)
	return e.Bytes
}

func encodeColumn(e *schema.Encoder, c study.Column) {
	e.Text("column.name", c.Name)
	e.Text("column.kind", string(c.Kind))
	encodeScale(e, c.Scale)
	if c.Date { // a path of its own, absent for other columns
		e.Flag("column.date", true)
	}
	e.Text("column.source", c.Source)
	schema.Texts(e, "column.values", c.Values)
	e.Text("column.owner", c.Owner)
	e.Text("column.label", strconv.FormatBool(c.Label))
	e.Real("column.kurtosis", c.Kurtosis)
}

// encodeScale encodes the numbers as in the file, before the transform.
func encodeScale(e *schema.Encoder, s fixedpoint.Scale) {
	first, second := s.Declared()
	if _, _, ok := s.Bounds(); ok {
		e.Real("column.bounds.lo", first)
		e.Real("column.bounds.hi", second)
	}
	if rate, ok := s.Rate(); ok { // a path of its own, absent for other columns
		e.Real("column.rate", rate)
	}
	if _, _, ok := s.CentreSpread(); ok {
		e.Real("column.centre", first)
		e.Real("column.spread", second)
	}
	if s.Transform().IsLog() { // paths of their own, absent for other columns
		e.Text("column.transform", "log")
	}
	if unit, ok := s.Transform().Unit(); ok {
		e.Text("column.transform", "asinh")
		e.Real("column.unit", unit)
	}
}
