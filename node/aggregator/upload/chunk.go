package upload

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/protocol"
)

// DamagedChunk reports a stored chunk that no longer matches its party's signature. This node's
// disk is at fault, not a party.
type DamagedChunk struct {
	Party         string
	Sketch, Chunk int // from 0; the sketch as numbered among uploads
}

func (e *DamagedChunk) Error() string {
	return fmt.Sprintf("chunk %d of sketch %d of %s is damaged on this disk (it counts as missing, and its party sends it again; aggregator advanced fsck looks for more)", e.Chunk+1, e.Sketch+1, e.Party)
}

// chunks reads an uploaded sketch chunk by chunk. It checks each chunk against the hash that its
// party signed before it passes on any of its bytes.
type chunks struct {
	read   func(index int) ([]byte, error)
	sketch protocol.ReleasedSketch
	bad    func(index int) error // returns the error for a damaged chunk
	next   int
	left   []byte
}

func (c *chunks) Read(p []byte) (int, error) {
	for len(c.left) == 0 {
		if c.next == len(c.sketch.Chunks) {
			return 0, io.EOF
		}
		data, err := c.read(c.next)
		if err != nil {
			return 0, err
		}
		if sha256.Sum256(data) != c.sketch.Chunks[c.next] {
			return 0, c.bad(c.next)
		}
		c.left, c.next = data, c.next+1
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}
