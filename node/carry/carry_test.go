package carry

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/protocol"
)

// A bundle may hold exactly as much as its limits say, and not a byte or a piece more.
func TestBoundsOfBundles(t *testing.T) {
	for _, c := range []struct {
		of   Mail
		says string // empty: within the limits
	}{
		{Mail{boards: mostBoards, pieces: mostPieces, size: mostUnpacked}, ""},
		{Mail{boards: mostBoards + 1}, "MB of messages"},
		{Mail{pieces: mostPieces + 1}, "262144 pieces of documents"},
		{Mail{size: mostUnpacked + 1}, "GB of documents"},
	} {
		err := c.of.bounded()
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, bundle.ErrTooMuch) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%d bytes of boards, %d pieces of %d bytes: %v, want %q", c.of.boards, c.of.pieces, c.of.size, err, c.says)
		}
	}
}

// Interleaved pieces of documents are counted, and each document can be read from any offset.
func TestPiecesOfDocuments(t *testing.T) {
	m := Mail{documents: map[protocol.Digest][]span{}}
	defer m.Close()
	one, two, dir := protocol.Digest{1}, protocol.Digest{2}, t.TempDir()
	for _, p := range []struct {
		of   protocol.Digest
		text string
	}{{one, "abc"}, {two, "xy"}, {one, ""}, {one, "de"}} {
		if err := m.put(dir, p.of, []byte(p.text)); err != nil {
			t.Fatal(err)
		}
	}
	if m.pieces != 4 || m.size != 7 {
		t.Errorf("%d pieces of %d bytes", m.pieces, m.size)
	}
	for _, c := range []struct {
		of     protocol.Digest
		offset int64
		want   string
		there  bool
	}{{one, 0, "abc", true}, {one, 2, "c", true}, {one, 3, "de", true}, {one, 5, "", true}, {one, 6, "", false}, {two, 1, "y", true}, {protocol.Digest{3}, 0, "", false}} {
		if got, there, err := m.piece(c.of, c.offset); string(got) != c.want || there != c.there || err != nil {
			t.Errorf("document %d from %d on: %q, %v, %v", c.of[0], c.offset, got, there, err)
		}
	}
}
