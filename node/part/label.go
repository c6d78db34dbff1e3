package part

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/protocol/fail"
)

// MostShards bounds the parts of one sum.
const MostShards = 1 << 16

// Shard says which shard, of how many, a part belongs to.
type Shard struct {
	Number int `json:"shard"` // from 1
	Of     int `json:"of"`
}

func (s Shard) String() string { return fmt.Sprintf("%d of %d", s.Number, s.Of) }

// Check returns an error if Number is not one of the shards.
func (s Shard) Check() error {
	if s.Of < 1 || s.Of > MostShards || s.Number < 1 || s.Number > s.Of {
		return fmt.Errorf("there is no shard %d/%d: shards are counted from 1/N to N/N, N at most %d", s.Number, s.Of, MostShards)
	}
	return nil
}

// Label is the readable line of a part. It is not authenticated until the part is opened.
type Label struct {
	Study   string `json:"study"`
	Dataset string `json:"dataset"`
	Job     string `json:"job"`
	Shard
}

// label returns the label of a job's part.
func (j *Job) label(s Shard) Label {
	return Label{Study: j.Study.ID.String(), Dataset: j.Entry.Dataset, Job: j.ID().String(), Shard: s}
}

// magic begins a part.
const magic = "cosketch part/1 "

// mostLabel bounds the size of a label's line.
const mostLabel = 4 << 10

func (l Label) line() []byte {
	b, err := json.Marshal(l)
	if err != nil {
		panic("part: a label holds text and numbers alone: " + err.Error())
	}
	return append(append([]byte(magic), b...), '\n')
}

// readLabel reads the label's line.
func readLabel(r *bufio.Reader) (Label, error) {
	line, err := r.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return Label{}, err
	}
	rest, ok := bytes.CutPrefix(line, []byte(magic))
	var l Label
	if !ok || err != nil || len(line) > mostLabel || json.Unmarshal(rest, &l) != nil || l.Check() != nil {
		return Label{}, fail.PartDamaged.New("it is no part of this version, or its first line is damaged")
	}
	return l, nil
}
