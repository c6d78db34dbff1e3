package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
)

// MaxDocument limits the size of a result document, without its tables, in bytes.
const MaxDocument = 1 << 27

// Size is roughly the size of a study's result in bytes if all parties are in it. It is the same at
// the aggregator and at each party.
type Size struct {
	Document int64 `json:"document"` // JSON
	Tables   int64 `json:"tables"`   // stored beside the document
}

// Rough sizes in bytes of parts of a document, with their keys.
const (
	numberBytes  = 210
	pairBytes    = 60 + numberBytes
	featureBytes = 80
	entryBytes   = 24
)

// SizeOf forecasts the size of a study's result.
func SizeOf(s *study.Study) (out Size) {
	for _, a := range s.Analyses {
		one := sizeOf(s, a)
		out.Document += one.Document
		out.Tables += one.Tables
	}
	return out
}

// taken is what the size of an answer depends on.
type taken struct {
	study *study.Study
	asked study.Analysis
	side  sketch.Side
	// values is the number of values analysed, k the entries in a row of the sketch, classes those
	// of the label.
	values, parties, classes, k int64
}

func takenBy(s *study.Study, a study.Analysis) *taken {
	t := &taken{study: s, asked: a, values: int64(len(valuesOf(s, a))), parties: int64(len(s.Parties))}
	if l, ok := s.Label(); ok {
		t.classes = int64(len(l.Classes()))
	}
	if index, ok := s.SketchFor(a); ok {
		t.side, t.k = s.Sketches[index].Side, int64(s.Sketches[index].Projection.K)
	}
	return t
}

func sizeOf(s *study.Study, a study.Analysis) (out Size) {
	t := takenBy(s, a)
	if of := kindOf(a.Kind).size; of != nil {
		out = of(t)
	}
	out.Document += t.values*featureBytes + 1000
	return out
}

// numbers returns the size of count numbers.
func numbers(count int64) Size { return Size{Document: count * numberBytes} }

// pairsSize returns the size of one number for each pair of values; if themselves, also of each
// value with itself.
func pairsSize(themselves bool) func(t *taken) Size {
	return func(t *taken) (out Size) {
		pairs := pairsOf(int(t.values), themselves)
		if t.values <= MostInline {
			out.Document = pairs*pairBytes + t.values*t.values*entryBytes
			return out
		}
		out.Tables = pairs * int64(len(fields)*field+1)
		out.Document = mostClearest*pairBytes + out.Tables/PartSize*100
		return out
	}
}

// valuesOf lists the columns that an analysis is about. A categorical column is listed once for
// each of its values.
func valuesOf(s *study.Study, a study.Analysis) (out []int) {
	index, ok := s.SketchFor(a)
	if !ok || s.Sketches[index].Side == sketch.Records {
		return nil
	}
	var only []string // empty: all
	switch o := a.Options.(type) {
	case study.RegressionOptions:
		if only = o.On; len(only) > 0 {
			only = append(slices.Clip(only), o.Target)
		}
	case study.LDAOptions:
		only = o.On
	}
	for party := range s.Parties {
		for _, f := range s.Features(party, index) {
			if (f.Kind == study.Value || f.Kind == study.OneHot) && (len(only) == 0 || slices.Contains(only, s.Columns[f.Column].Name)) {
				out = append(out, f.Column)
			}
		}
		if s.Merge(index) == study.Add {
			break // all parties have the same columns
		}
	}
	return out
}

// Deliverable returns an error, with the cost, if a study's result could not be computed, or not be
// fetched by its parties.
func Deliverable(s *study.Study) error {
	for i, a := range s.Analyses {
		refuse := kindOf(a.Kind).refuse
		if refuse == nil {
			continue
		}
		if why := refuse(len(valuesOf(s, a))); why != "" {
			return fmt.Errorf("analyses[%d]: %s", i, why)
		}
	}
	if size := SizeOf(s); size.Document > MaxDocument {
		return fmt.Errorf("the result document would have about %s, at most %s are possible: ask for fewer analyses, or of fewer columns", block.Bytes(size.Document), block.Bytes(MaxDocument))
	}
	return firstFits(s)
}

// firstFits returns an error if the first of two rounds is too large for the board: at full width,
// with room for its description.
func firstFits(s *study.Study) error {
	if !s.TwoRounds() {
		return nil
	}
	bytes := int64(4 << 10)
	for i, sk := range s.Sketches {
		row, ok := sum.RowOf(sk.Side)
		if !ok || s.SecondRound(i) {
			continue
		}
		rows, cols := row.Shape(s, i)
		bytes += 8 * rows * cols
	}
	if most := int64(protocol.KindFirst.MaxPayload()); bytes > most {
		return fmt.Errorf("a first round would take about %s; the board holds at most %s of a party: ask for fewer columns, or set rounds: 1", block.Bytes(bytes), block.Bytes(most))
	}
	if all := bytes * int64(len(s.Parties)); all > MostFirsts {
		return fmt.Errorf("the first rounds of %d parties would take about %s; the board, which every party reads, holds at most %s: ask for fewer columns, or set rounds: 1", len(s.Parties), block.Bytes(all), block.Bytes(MostFirsts))
	}
	return nil
}

// MostFirsts limits the first rounds of all parties together, which each of them reads and stores.
// It is as much as study.MostWhole parties may post.
const MostFirsts = study.MostWhole * protocol.MaxPayload

// tooManyPairs returns why n values are refused: the table of their pairs would be too long.
func tooManyPairs(name study.AnalysisKind) func(n int) string {
	return func(n int) string {
		if n <= MostDense {
			return ""
		}
		return fmt.Sprintf("%s of %d columns is refused: at most %d are possible. Its table would have %d pairs and take %s; ask for it of fewer columns, in studies of their own",
			name, n, MostDense, pairsOf(n, false), block.Bytes(pairsOf(n, false)*int64(len(fields)*field+1)))
	}
}

// cubic returns why n values are refused if n exceeds most and the work grows with its cube. With
// most values it takes about ten seconds. The analysis holds so many matrices in memory.
func cubic(name study.AnalysisKind, does string, most int, matrices int64) func(n int) string {
	const seconds = 10 // at n = most
	return func(n int) string {
		if n <= most {
			return ""
		}
		grown := float64(n) / float64(most)
		return fmt.Sprintf("%s of %d columns is refused: at most %d are %s. The work grows with their cube and the memory with their square: here about %s of all processors, and %s of memory. Ask for it of fewer columns",
			name, n, most, does, minutes(seconds*math.Pow(grown, 3)), block.Bytes(matrices*8*int64(n)*int64(n)))
	}
}

func minutes(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f seconds", seconds)
	}
	return fmt.Sprintf("%.0f minutes", math.Ceil(seconds/60))
}

// Says describes the size in a sentence.
func (s Size) Says() string {
	text := fmt.Sprintf("The result takes about %s at the aggregator and at each party", block.Bytes(s.Document+s.Tables))
	if s.Tables > 0 {
		text += fmt.Sprintf(": %s of tables, and a document of %s", block.Bytes(s.Tables), block.Bytes(s.Document))
	}
	return text + "."
}
