package protocol_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// studyCase is a study file of this repository, and the parts of its meaning.
type studyCase struct {
	File    string   `json:"file"`
	ID      hexed    `json:"id"`
	Meaning hexed    `json:"meaning"`
	Encoded []string `json:"encoded"` // path = value, in the order in which they are hashed; values in hexadecimal
}

func studies() vectors {
	return cases[studyCase]{
		file:  "studies",
		about: "Given: a study file of protocol/study/testdata. To be found: its id and meaning, and the pairs whose labelled hash the meaning is. What must be refused is in protocol/study/testdata/refusals.txt.",
		given: func(*testing.T) []studyCase {
			return []studyCase{{File: "registry.yaml"}, {File: "hospitals.yaml"}, {File: "laboratories.yaml"}, {File: "survey.yaml"}, {File: "patients.yaml"}, {File: "clinics.yaml"}, {File: "wards.yaml"}, {File: "practices.yaml"}, {File: "visitors.yaml"}}
		},
		fill: func(t *testing.T, c *studyCase) {
			source, err := os.ReadFile("study/testdata/" + c.File)
			if err != nil {
				t.Fatal(err)
			}
			s, err := file.Parse(source)
			if err != nil {
				t.Fatal(err)
			}
			m := meaningOf(s)
			c.ID, c.Meaning, c.Encoded = hexedOf(s.ID), hexedOf(s.Meaning), m.pairs
			if sum := protocol.Hash("study meaning", m.bytes); sum != s.Meaning {
				t.Errorf("%s: by the pairs of SPEC.md its meaning is %s, not %s", c.File, sum, s.Meaning)
			}
		},
	}
}

// meaning is the content that a study's meaning is the hash of, implemented independently.
type meaning struct {
	pairs []string
	bytes []byte
}

func (m *meaning) put(path, value string) {
	m.pairs = append(m.pairs, path+" = "+hex.EncodeToString([]byte(value)))
	for _, field := range []string{path, value} {
		m.bytes = append(binary.BigEndian.AppendUint32(m.bytes, uint32(len(field))), field...)
	}
}

func (m *meaning) whole(path string, n int) { m.put(path, strconv.Itoa(n)) }

func (m *meaning) real(path string, x float64) {
	m.put(path, string(binary.BigEndian.AppendUint64(nil, math.Float64bits(x))))
}

func list[T ~string](m *meaning, path string, values []T) {
	m.whole(path, len(values))
	for _, v := range values {
		m.put(path, string(v))
	}
}

func meaningOf(s *study.Study) *meaning {
	m := &meaning{}
	m.put("cosketch", "study/2")
	m.put("name", s.Name)
	m.put("nonce", string(s.Nonce[:]))
	m.put("aggregator.id", string(s.Aggregator.ID[:]))
	m.put("aggregator.hpke", string(s.Aggregator.HPKE))
	list(m, "aggregator.addrs", s.Aggregator.Addrs)
	m.whole("parties", len(s.Parties))
	for _, p := range s.Parties {
		m.put("party.name", p.Name)
		m.put("party.id", string(p.ID[:]))
		if p.Records != 0 {
			m.whole("party.records", int(p.Records))
		}
	}
	m.put("partition", string(s.Partition))
	m.whole("quorum", s.Quorum)
	m.put("expires", s.Expires.String())
	m.put("deadline", s.Deadline.String())
	if s.LateUntil == 0 {
		m.put("late_until", "")
	} else {
		m.put("late_until", s.LateUntil.String())
	}
	if s.NewRecords != 0 {
		m.put("new_records_until", s.NewRecords.String())
	}
	m.whole("max_attempts", s.Attempts)
	list(m, "records.id", s.Records.ID)
	list(m, "records.normalize", s.Records.Normalize)
	m.put("records.duplicates", string(s.Records.Duplicates))
	m.put("records.missing", string(s.Records.Missing))
	if s.Records.Join != "" {
		m.put("records.join", string(s.Records.Join))
	}
	m.whole("columns", len(s.Columns))
	for _, c := range s.Columns {
		m.column(c)
	}
	m.whole("bits", int(s.Bits))
	m.whole("sketches", len(s.Sketches))
	for _, sk := range s.Sketches {
		m.sketch(sk)
	}
	m.put("privacy.unit", string(s.Privacy.Unit))
	m.put("privacy.mechanism", string(s.Privacy.Mechanism))
	m.real("privacy.epsilon", float64(s.Privacy.Epsilon))
	m.real("privacy.delta", float64(s.Privacy.Delta))
	if s.Privacy.Replaced {
		m.put("privacy.neighbours", "replaced")
	}
	m.put("sum", "plain")
	m.whole("analyses", len(s.Analyses))
	for _, a := range s.Analyses {
		m.put("analysis.kind", string(a.Kind))
		m.put("analysis.intervals", string(a.Intervals))
		switch o := a.Options.(type) {
		case nil:
		case study.CorrelationOptions:
			m.put("analysis.estimator", string(o.Estimator))
		case study.KMeansOptions:
			m.whole("analysis.clusters", o.Clusters)
			m.whole("analysis.restarts", o.Restarts)
		case study.ClassifierOptions:
			m.whole("analysis.folds", o.Folds)
			m.whole("analysis.epochs", o.Epochs)
			m.real("analysis.cost", o.Cost)
			m.put("analysis.loss", string(o.Loss))
			m.real("analysis.penalty", o.Penalty)
		case study.NeighborsOptions:
			m.whole("analysis.neighbors", o.Neighbors)
		default:
			panic(fmt.Sprintf("no encoding of %T here", o))
		}
	}
	list(m, "later", s.Later)
	if s.Queries.Releases != 0 {
		m.whole("queries.releases", s.Queries.Releases)
		m.whole("queries.records", s.Queries.Records)
		m.whole("queries.neighbors", s.Queries.Neighbors)
	}
	return m
}

func (m *meaning) column(c study.Column) {
	m.put("column.name", c.Name)
	m.put("column.kind", string(c.Kind))
	first, second := c.Scale.Declared()
	if _, _, ok := c.Scale.Bounds(); ok {
		m.real("column.bounds.lo", first)
		m.real("column.bounds.hi", second)
	}
	if _, _, ok := c.Scale.CentreSpread(); ok {
		m.real("column.centre", first)
		m.real("column.spread", second)
	}
	if c.Scale.Transform().IsLog() {
		m.put("column.transform", "log")
	}
	if unit, ok := c.Scale.Transform().Unit(); ok {
		m.put("column.transform", "asinh")
		m.real("column.unit", unit)
	}
	m.put("column.source", c.Source)
	list(m, "column.values", c.Values)
	m.put("column.owner", c.Owner)
	m.put("column.label", fmt.Sprint(c.Label))
	m.real("column.kurtosis", c.Kurtosis)
}

func (m *meaning) sketch(sk study.Sketch) {
	m.put("sketch.side", string(sk.Side))
	m.put("sketch.family", string(sk.Projection.Family))
	m.whole("sketch.k", sk.Projection.K)
	m.whole("sketch.s", sk.Projection.S)
	matrix := "secret"
	if sk.Public {
		matrix = "public"
	}
	m.put("sketch.matrix", matrix)
	m.real("sketch.share", sk.Share)
	m.real("sketch.helpers.ones", sk.Helpers.Ones)
	m.put("sketch.helpers.squares", fmt.Sprint(sk.Helpers.Squares))
	m.real("sketch.clip", sk.Clip)
	m.put("sketch.clip.whole", fmt.Sprint(sk.Whole))
	m.put("sketch.clip.own", fmt.Sprint(sk.OwnClip))
	m.whole("sketch.sums", sk.Moments.Sums)
	m.put("sketch.fourth", fmt.Sprint(sk.Moments.Fourth))
	m.put("sketch.standardise", fmt.Sprint(sk.Standardise))
	if sk.Labels != "" {
		m.put("sketch.labels", string(sk.Labels))
		m.real("sketch.label_share", sk.LabelShare)
	}
	if sk.Subspace > 0 {
		m.whole("sketch.q", sk.Subspace)
	}
}
