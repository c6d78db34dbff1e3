package protocol_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// joinedCase is a released sketch of the records side of a vertical study: entries and
// pseudonyms.
type joinedCase struct {
	Seed       hexed    `json:"seed"`
	Sketch     int      `json:"sketch"` // its index in the study, from 0
	IDs        []string `json:"ids"`    // normalised, in hexadecimal
	Entries    []int64  `json:"entries"`
	Pseudonyms []hexed  `json:"pseudonyms"` // in the order of the ids
	Order      []int    `json:"order"`      // row i of the release is id number order[i]
	Width      int      `json:"width"`
	Encoded    hexed    `json:"encoded"`
	Chunks     []hexed  `json:"chunks"`
}

func joinedSketches() vectors {
	return cases[joinedCase]{
		file:  "joined",
		about: "Given: a seed, the index of a joined sketch, ids, and the entries of their rows, two each, as noise left them. To be found: the ids' pseudonyms, the order of the rows, and the release's bytes and chunk hashes.",
		given: func(*testing.T) []joinedCase {
			id := func(s string) string { return hex.EncodeToString([]byte(s)) }
			return []joinedCase{
				{Seed: hexedOf(rowKey(1)), Sketch: 0, IDs: []string{id("patient 1"), id("patient 2"), id("é")}, Entries: []int64{1, -2, 3, 4, -5, 6}},
				{Seed: hexedOf(rowKey(1)), Sketch: 1, IDs: []string{id("patient 1"), id("patient 2")}, Entries: []int64{300, -2, 3, 4}},
				{Seed: hexedOf(rowKey(2)), Sketch: 0, IDs: []string{id("patient 1")}, Entries: []int64{0, 0}},
			}
		},
		fill: func(t *testing.T, c *joinedCase) {
			s := &study.Study{Partition: study.Vertical, Sketches: []study.Sketch{{Side: sketch.Records}, {Side: sketch.Records}}}
			ids := make([][]byte, len(c.IDs))
			for i, text := range c.IDs {
				raw, err := hex.DecodeString(text)
				if err != nil {
					t.Fatal(err)
				}
				ids[i] = raw
			}
			names, err := release.Plan{Study: s, Index: c.Sketch}.Pseudonyms(seed.FromBytes(c.Seed.array(t)), ids)
			if err != nil {
				t.Fatal(err)
			}
			c.Pseudonyms, c.Chunks = nil, nil
			for _, n := range names {
				c.Pseudonyms = append(c.Pseudonyms, hexed(n[:]))
			}
			e := release.Exact{
				Sketch: sketch.Sketch{Side: sketch.Records, Rows: len(ids), Cols: len(c.Entries) / len(ids), Data: slices.Clone(c.Entries)},
				Rows:   release.Rows{Pseudonyms: names},
			}
			if err := e.Shuffle(nil); err != nil {
				t.Fatal(err)
			}
			header, data, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			c.Order, c.Width, c.Encoded = e.Order, header.Width, data
			for _, h := range header.Chunks {
				c.Chunks = append(c.Chunks, hexedOf(h))
			}
			if want := []protocol.RowColumn{{Name: "pseudonym", Width: 16}}; len(header.RowColumns) != 1 || header.RowColumns[0] != want[0] {
				t.Errorf("row columns %v, want %v", header.RowColumns, want)
			}
		},
	}
}
