package study

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/transcript"
)

// meaning hashes a deterministic encoding of the study with its defaults filled in.
//
// The encoding is a sequence of pairs len‖path ‖ len‖value in the fixed order below.
// Texts are their UTF-8 bytes, whole numbers their decimal digits, real numbers
// their IEEE 754 bits as a big-endian uint64, lists their length followed by their
// elements. Parties come in the order of their keys, everything else in the file's.
// Where this version knows one value only, that value is encoded too: a later
// version whose default is another one must not agree on the meaning.
func meaning(s *Study) protocol.Digest {
	late := ""
	if s.LateUntil != 0 {
		late = s.LateUntil.String()
	}
	e := &encoder{}
	e.text("cosketch", version)
	e.text("name", s.Name)
	e.text("nonce", string(s.Nonce[:]))
	e.text("aggregator.id", string(s.Aggregator.ID[:]))
	e.text("aggregator.hpke", string(s.Aggregator.HPKE))
	texts(e, "aggregator.addrs", s.Aggregator.Addrs)
	e.whole("parties", len(s.Parties))
	for _, p := range s.Parties {
		e.text("party.name", p.Name)
		e.text("party.id", string(p.ID[:]))
		if p.Records != 0 { // a path of its own: studies that do not say it have none
			e.whole("party.records", int(p.Records))
		}
	}
	e.text("partition", string(s.Partition))
	e.whole("quorum", s.Quorum)
	e.text("expires", s.Expires.String())
	e.text("deadline", s.Deadline.String())
	e.text("late_until", late)
	if s.NewRecords != 0 { // a path of its own, again
		e.text("new_records_until", s.NewRecords.String())
	}
	e.whole("max_attempts", s.Attempts)
	texts(e, "records.id", s.Records.ID)
	texts(e, "records.normalize", s.Records.Normalize)
	e.text("records.duplicates", string(s.Records.Duplicates))
	e.text("records.missing", string(s.Records.Missing))
	if s.Records.Join != "" { // a path of its own: studies without a joined sketch have none
		e.text("records.join", string(s.Records.Join))
	}
	e.whole("columns", len(s.Columns))
	for _, c := range s.Columns {
		e.column(c)
	}
	e.whole("bits", int(s.Bits))
	e.whole("sketches", len(s.Sketches))
	for _, sk := range s.Sketches {
		e.sketch(sk)
	}
	e.text("privacy.unit", string(s.Privacy.Unit))
	e.text("privacy.mechanism", string(s.Privacy.Mechanism))
	e.real("privacy.epsilon", float64(s.Privacy.Epsilon))
	e.real("privacy.delta", float64(s.Privacy.Delta))
	if s.Privacy.Replaced { // a path of its own: no other study's encoding has it
		e.text("privacy.neighbours", "replaced")
	}
	e.text("sum", string(s.Sum))
	if s.Colluding != 0 { // a path of its own, again
		e.whole("colluding", s.Colluding)
	}
	e.whole("analyses", len(s.Analyses))
	for _, a := range s.Analyses {
		e.analysis(a)
	}
	texts(e, "later", s.Later)
	if s.Queries != (Queries{}) { // paths of their own
		e.whole("queries.releases", s.Queries.Releases)
		e.whole("queries.records", s.Queries.Records)
		e.whole("queries.neighbors", s.Queries.Neighbors)
	}
	return protocol.Hash("study meaning", e.buf)
}

type encoder struct{ buf []byte }

func (e *encoder) text(path, value string) {
	e.buf = transcript.AppendField(e.buf, []byte(path))
	e.buf = transcript.AppendField(e.buf, []byte(value))
}

func (e *encoder) whole(path string, value int) { e.text(path, strconv.Itoa(value)) }

func (e *encoder) real(path string, value float64) {
	e.text(path, string(binary.BigEndian.AppendUint64(nil, math.Float64bits(value))))
}

func texts[T ~string](e *encoder, path string, values []T) {
	e.whole(path, len(values))
	for _, v := range values {
		e.text(path, string(v))
	}
}

func (e *encoder) column(c Column) {
	e.text("column.name", c.Name)
	e.text("column.kind", string(c.Kind))
	e.scale(c.Scale)
	e.text("column.source", c.Source)
	texts(e, "column.values", c.Values)
	e.text("column.owner", c.Owner)
	e.text("column.label", strconv.FormatBool(c.Label))
	e.real("column.kurtosis", c.Kurtosis)
}

// scale encodes the numbers as the file has them, before the transform.
func (e *encoder) scale(s fixedpoint.Scale) {
	first, second := s.Declared()
	if _, _, ok := s.Bounds(); ok {
		e.real("column.bounds.lo", first)
		e.real("column.bounds.hi", second)
	}
	if rate, ok := s.Rate(); ok { // a path of its own: no other column has it
		e.real("column.rate", rate)
	}
	if _, _, ok := s.CentreSpread(); ok {
		e.real("column.centre", first)
		e.real("column.spread", second)
	}
	if s.Transform().IsLog() { // paths of their own: no other column's encoding has them
		e.text("column.transform", "log")
	}
	if unit, ok := s.Transform().Unit(); ok {
		e.text("column.transform", "asinh")
		e.real("column.unit", unit)
	}
}

func (e *encoder) sketch(sk Sketch) {
	e.text("sketch.side", string(sk.Side))
	e.text("sketch.family", string(sk.Projection.Family))
	e.whole("sketch.k", sk.Projection.K)
	e.whole("sketch.s", sk.Projection.S)
	e.text("sketch.matrix", sk.matrix())
	e.real("sketch.share", sk.Share)
	e.real("sketch.helpers.ones", sk.Helpers.Ones)
	e.text("sketch.helpers.squares", strconv.FormatBool(sk.Helpers.Squares))
	e.real("sketch.clip", sk.Clip)
	e.text("sketch.clip.whole", strconv.FormatBool(sk.Whole))
	e.text("sketch.clip.own", strconv.FormatBool(sk.OwnClip))
	e.whole("sketch.sums", sk.Moments.Sums)
	e.text("sketch.fourth", strconv.FormatBool(sk.Moments.Fourth))
	e.text("sketch.standardise", strconv.FormatBool(sk.Standardise))
	if sk.Labels != LabelsNone || sk.LabelShare != 0 { // paths of their own: no other study's encoding has them
		e.text("sketch.labels", string(sk.Labels))
		e.real("sketch.label_share", sk.LabelShare)
	}
	for _, row := range additives() { // paths of their own
		if row.encode != nil {
			row.encode(e, sk)
		}
	}
}

func (e *encoder) analysis(a Analysis) {
	e.text("analysis.kind", string(a.Kind))
	e.text("analysis.intervals", string(a.Intervals))
	if a.Options != nil {
		a.Options.encode(e)
	}
}
