package release

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// Pseudonym names a record in a joined sketch. It is equal at every party that holds the record:
// the first 16 bytes of the keyed hash of sketch and normalised id, under a key of the study's
// seed. Of n records two collide with probability below n²/2¹²⁹. Without the seed, pseudonyms link
// nothing but the releases of this sketch. With the seed, anybody can compute the pseudonym of an
// id.
type Pseudonym [16]byte

// Compare orders pseudonyms as bytes.
func (p Pseudonym) Compare(q Pseudonym) int { return bytes.Compare(p[:], q[:]) }

// pseudonymColumn is the name of the row column of a joined sketch.
const pseudonymColumn = "pseudonym"

// Pseudonyms returns the pseudonyms of normalised ids in a joined sketch, in their order. It
// returns nil for other sketches, which name no records.
func (p Plan) Pseudonyms(root seed.Keys, ids [][]byte) ([]Pseudonym, error) {
	if !p.Joined() {
		return nil, nil
	}
	n, err := p.newNames(root)
	if err != nil {
		return nil, err
	}
	n.add(ids)
	return n.pseudonyms, nil
}

// names computes the pseudonyms of records as they are added.
type names struct {
	stream     stream.Stream
	sketch     uint32
	pseudonyms []Pseudonym
	blocks     [][64]byte // scratch, as are labels and their bytes
	labels     [][]byte
	arena      []byte
}

func (p Plan) newNames(root seed.Keys) (*names, error) {
	key, err := root.Derive(seed.Pseudonyms)
	if err != nil {
		return nil, fmt.Errorf("naming the records of sketch %d: %w", p.Index+1, err)
	}
	return &names{stream: stream.New(key), sketch: uint32(p.Index)}, nil
}

func (n *names) add(ids [][]byte) {
	const batch = 1024
	for ids := range slices.Chunk(ids, batch) {
		n.labels, n.arena = n.labels[:0], n.arena[:0]
		for _, id := range ids {
			from := len(n.arena)
			n.arena = stream.AppendPseudonymLabel(n.arena, n.sketch, id)
			n.labels = append(n.labels, n.arena[from:]) // stays valid when the arena is reallocated
		}
		n.blocks = slices.Grow(n.blocks[:0], len(ids))[:len(ids)]
		n.stream.Blocks(n.blocks, n.labels)
		for i := range n.blocks {
			n.pseudonyms = append(n.pseudonyms, Pseudonym(n.blocks[i][:]))
		}
	}
}

// sorted returns the order of rows by pseudonym. Sorted releases can be joined in one pass, and
// rows with the same pseudonym are adjacent. The sorted order is a function of the pseudonyms,
// which the release shows anyway, and reveals nothing about the records' order.
func sorted(pseudonyms []Pseudonym) []int {
	order := make([]int, len(pseudonyms))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return pseudonyms[a].Compare(pseudonyms[b]) })
	return order
}

// RowColumns returns the columns that a sketch of the plan has for each row beside its entries.
func (p Plan) RowColumns() []protocol.RowColumn {
	if !p.Joined() {
		return nil
	}
	return []protocol.RowColumn{{Name: pseudonymColumn, Width: len(Pseudonym{})}}
}

// Rows holds the row columns of a release: what it says of each row beside its entries.
type Rows struct {
	Pseudonyms []Pseudonym // joined sketches: strictly ascending; else nil
}

// permute reorders the rows: row i of the result is row order[i].
func (r Rows) permute(order []int) Rows {
	if r.Pseudonyms == nil {
		return r
	}
	out := Rows{Pseudonyms: make([]Pseudonym, len(order))}
	for i, from := range order {
		out.Pseudonyms[i] = r.Pseudonyms[from]
	}
	return out
}

// columns returns the row columns in encoded form.
func (r Rows) columns() (described []protocol.RowColumn, data []byte) {
	if r.Pseudonyms == nil {
		return nil, nil
	}
	for _, p := range r.Pseudonyms {
		data = append(data, p[:]...)
	}
	return []protocol.RowColumn{{Name: pseudonymColumn, Width: len(Pseudonym{})}}, data
}

var errNotAscending = errors.New("decoding sketch: pseudonyms are not ascending, or one is there twice")

// DecodeRows reads the row columns of a sketch whose header CheckHeader accepted and whose chunks
// were checked. It checks what neither can: that pseudonyms are strictly ascending, so no record is
// there twice. Its entries must have been read from r before. Pseudonyms are appended to room,
// which may be nil.
func DecodeRows(h protocol.ReleasedSketch, r io.Reader, room []Pseudonym) (out Rows, err error) {
	out.Pseudonyms = room
	err = scanRows(h, r, func(p Pseudonym) { out.Pseudonyms = append(out.Pseudonyms, p) })
	if err != nil {
		return Rows{}, err
	}
	return out, nil
}

// scanRows reads the row columns one by one.
func scanRows(h protocol.ReleasedSketch, r io.Reader, take func(Pseudonym)) error {
	if len(h.RowColumns) == 0 {
		return nil // nothing follows the entries
	}
	from := bufio.NewReader(r)
	for _, c := range h.RowColumns {
		if c.Name != pseudonymColumn || c.Width != len(Pseudonym{}) {
			return fmt.Errorf("decoding sketch: unknown row column %q of %d bytes", c.Name, c.Width)
		}
		var last, p Pseudonym
		for i := range h.Rows {
			switch _, err := io.ReadFull(from, p[:]); {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				return fmt.Errorf("decoding sketch: its %d rows end before row column %q does", h.Rows, c.Name)
			case err != nil:
				return fmt.Errorf("decoding sketch: %w", err)
			}
			if i > 0 && bytes.Compare(last[:], p[:]) >= 0 {
				return errNotAscending
			}
			take(p)
			last = p
		}
	}
	switch _, err := from.ReadByte(); {
	case err == nil:
		return fmt.Errorf("decoding sketch: more than %d bytes", h.Size())
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("decoding sketch: %w", err)
	}
	return nil
}
