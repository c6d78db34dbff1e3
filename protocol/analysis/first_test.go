package analysis_test

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
)

// First rounds of any number of parties add up in an int64: each party is limited to its part of
// the range.
func TestFirstRoundsOfManyPartiesAddUp(t *testing.T) {
	for parties, most := range map[int]int64{3: 1 << 62 / 64, 64: 1 << 62 / 64, 100: 1 << 62 / 100} {
		s, err := protocoltest.NewStudy(protocoltest.Terms{Parties: parties, Rounds: true})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := release.For(s, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for v, refused := range map[int64]bool{most - 1: false, 1 - most: false, most: true, -most: true} {
			rows, cols := plan.Shape(10)
			one := sketch.Sketch{Side: plan.Sketch().Side, Rows: int(rows), Cols: int(cols), Data: make([]int64, rows*cols)}
			one.Data[len(one.Data)-1] = v
			header, data, err := release.Encode(one)
			if err != nil {
				t.Fatal(err)
			}
			_, err = analysis.FromFirst(s, protocol.Digest{1}, s.Parties[0].ID, protocol.First{Records: 10, Sketches: []protocol.ReleasedSketch{header}, Data: [][]byte{data}})
			if refused != (err != nil) || refused && !strings.Contains(err.Error(), "an entry is out of range") {
				t.Errorf("%d of %d parties: %v", v, parties, err)
			}
		}
	}
}

// First rounds are on the board, which all read, so their total size is limited.
func TestFirstRoundsOfManyPartiesFit(t *testing.T) {
	for columns, fits := range map[int]bool{100: true, 320: false} {
		s, err := protocoltest.NewStudy(protocoltest.Terms{Parties: 200, Rounds: true})
		if err != nil {
			t.Fatal(err)
		}
		for range columns {
			s.Columns = append(s.Columns, s.Columns[0])
		}
		err = analysis.Deliverable(s)
		if fits != (err == nil) || !fits && !strings.Contains(err.Error(), "the first rounds of 200 parties would take about") {
			t.Errorf("%d columns: %v", columns, err)
		}
	}
}
