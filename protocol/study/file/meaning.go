package file

import (
	"strconv"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// meaning hashes a deterministic encoding of the study with its defaults filled in.
//
// The encoding is a sequence of pairs len‖path ‖ len‖value in the fixed order below.
// Texts are their UTF-8 bytes, whole numbers their decimal digits, real numbers
// their IEEE 754 bits as a big-endian uint64, lists their length followed by their
// elements. Parties come in the order of their keys, everything else in the file's.
// Where this version knows one value only, that value is encoded too: a later
// version whose default is another one must not agree on the meaning.
func meaning(s *study.Study) protocol.Digest {
	late := ""
	if s.LateUntil != 0 {
		late = s.LateUntil.String()
	}
	e := &schema.Encoder{}
	e.Text("cosketch", version)
	e.Text("name", s.Name)
	e.Text("nonce", string(s.Nonce[:]))
	e.Text("aggregator.id", string(s.Aggregator.ID[:]))
	e.Text("aggregator.hpke", string(s.Aggregator.HPKE))
	schema.Texts(e, "aggregator.addrs", s.Aggregator.Addrs)
	e.Whole("parties", len(s.Parties))
	for _, p := range s.Parties {
		e.Text("party.name", p.Name)
		e.Text("party.id", string(p.ID[:]))
		if p.Records != 0 { // a path of its own: studies that do not say it have none
			e.Whole("party.records", int(p.Records))
		}
	}
	e.Text("partition", string(s.Partition))
	e.Whole("quorum", s.Quorum)
	e.Text("expires", s.Expires.String())
	e.Text("deadline", s.Deadline.String())
	e.Text("late_until", late)
	if s.NewRecords != 0 { // a path of its own, again
		e.Text("new_records_until", s.NewRecords.String())
	}
	e.Whole("max_attempts", s.Attempts)
	schema.Texts(e, "records.id", s.Records.ID)
	schema.Texts(e, "records.normalize", s.Records.Normalize)
	e.Text("records.duplicates", string(s.Records.Duplicates))
	e.Text("records.missing", string(s.Records.Missing))
	if s.Records.Join != "" { // a path of its own: studies without a joined sketch have none
		e.Text("records.join", string(s.Records.Join))
	}
	e.Whole("columns", len(s.Columns))
	for _, c := range s.Columns {
		encodeColumn(e, c)
	}
	e.Whole("bits", int(s.Bits))
	e.Whole("sketches", len(s.Sketches))
	for _, sk := range s.Sketches {
		encodeSketch(e, sk)
	}
	e.Text("privacy.unit", string(s.Privacy.Unit))
	e.Text("privacy.mechanism", string(s.Privacy.Mechanism))
	e.Real("privacy.epsilon", float64(s.Privacy.Epsilon))
	e.Real("privacy.delta", float64(s.Privacy.Delta))
	if s.Privacy.Replaced { // a path of its own: no other study's encoding has it
		e.Text("privacy.neighbours", "replaced")
	}
	e.Text("sum", string(s.Sum))
	if s.Colluding != 0 { // a path of its own, again
		e.Whole("colluding", s.Colluding)
	}
	e.Whole("analyses", len(s.Analyses))
	for _, a := range s.Analyses {
		encodeAnalysis(e, a)
	}
	schema.Texts(e, "later", s.Later)
	if s.Queries != (study.Queries{}) { // paths of their own
		e.Whole("queries.releases", s.Queries.Releases)
		e.Whole("queries.records", s.Queries.Records)
		e.Whole("queries.neighbors", s.Queries.Neighbors)
	}
	return protocol.Hash("study meaning", e.Bytes)
}

func encodeColumn(e *schema.Encoder, c study.Column) {
	e.Text("column.name", c.Name)
	e.Text("column.kind", string(c.Kind))
	encodeScale(e, c.Scale)
	e.Text("column.source", c.Source)
	schema.Texts(e, "column.values", c.Values)
	e.Text("column.owner", c.Owner)
	e.Text("column.label", strconv.FormatBool(c.Label))
	e.Real("column.kurtosis", c.Kurtosis)
}

// scale encodes the numbers as the file has them, before the transform.
func encodeScale(e *schema.Encoder, s fixedpoint.Scale) {
	first, second := s.Declared()
	if _, _, ok := s.Bounds(); ok {
		e.Real("column.bounds.lo", first)
		e.Real("column.bounds.hi", second)
	}
	if rate, ok := s.Rate(); ok { // a path of its own: no other column has it
		e.Real("column.rate", rate)
	}
	if _, _, ok := s.CentreSpread(); ok {
		e.Real("column.centre", first)
		e.Real("column.spread", second)
	}
	if s.Transform().IsLog() { // paths of their own: no other column's encoding has them
		e.Text("column.transform", "log")
	}
	if unit, ok := s.Transform().Unit(); ok {
		e.Text("column.transform", "asinh")
		e.Real("column.unit", unit)
	}
}

func encodeSketch(e *schema.Encoder, sk study.Sketch) {
	e.Text("sketch.side", string(sk.Side))
	e.Text("sketch.family", string(sk.Projection.Family))
	e.Whole("sketch.k", sk.Projection.K)
	e.Whole("sketch.s", sk.Projection.S)
	e.Text("sketch.matrix", sk.MatrixWord())
	e.Real("sketch.share", sk.Share)
	e.Real("sketch.helpers.ones", sk.Helpers.Ones)
	e.Text("sketch.helpers.squares", strconv.FormatBool(sk.Helpers.Squares))
	e.Real("sketch.clip", sk.Clip)
	e.Text("sketch.clip.whole", strconv.FormatBool(sk.Whole))
	e.Text("sketch.clip.own", strconv.FormatBool(sk.OwnClip))
	e.Whole("sketch.sums", sk.Moments.Sums)
	e.Text("sketch.fourth", strconv.FormatBool(sk.Moments.Fourth))
	e.Text("sketch.standardise", strconv.FormatBool(sk.Standardise))
	if sk.Labels != study.LabelsNone || sk.LabelShare != 0 { // paths of their own: no other study's encoding has them
		e.Text("sketch.labels", string(sk.Labels))
		e.Real("sketch.label_share", sk.LabelShare)
	}
	for _, row := range additives() { // paths of their own
		if row.encode != nil {
			row.encode(e, sk)
		}
	}
}

func encodeAnalysis(e *schema.Encoder, a study.Analysis) {
	e.Text("analysis.kind", string(a.Kind))
	e.Text("analysis.intervals", string(a.Intervals))
	if a.Options != nil {
		a.Options.Encode(e)
	}
}
