package source

import (
	"fmt"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/protocol"
)

// EachChunk reads the chunks of a sketch of the stored release, starting at from.
func (r *Source) EachChunk(i int, s protocol.ReleasedSketch, from int, send func(index int, piece []byte) error) error {
	file, err := r.Store.OpenReleaseFile(r.Study.ID, filename.Sketch(i))
	if err != nil {
		return err
	}
	defer file.Close()
	buf := make([]byte, protocol.ChunkSize)
	for index := from; index < len(s.Chunks); index++ {
		at := int64(index) * protocol.ChunkSize
		piece := buf[:min(protocol.ChunkSize, s.Size()-at)]
		if _, err := file.ReadAt(piece, at); err != nil {
			return fmt.Errorf("reading the stored release: %w", err)
		}
		if err := send(index, piece); err != nil {
			return err
		}
	}
	return nil
}
