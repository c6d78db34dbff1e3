package release

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Encode writes a noised sketch at its least width and describes it for the header.
func Encode(s sketch.Sketch) (protocol.ReleasedSketch, []byte, error) {
	return Exact{Sketch: s}.Encode()
}

// Encode writes a noised sketch at its least width, with the row columns after its entries, and
// describes it for the header.
func (e Exact) Encode() (protocol.ReleasedSketch, []byte, error) {
	s := e.Sketch

	width := s.Width()
	if e.Masked > 0 {
		width = maskedWidth
	}
	data, err := s.Encode(width)
	if err != nil {
		return protocol.ReleasedSketch{}, nil, fmt.Errorf("encoding sketch: %w", err)
	}
	header := protocol.ReleasedSketch{Side: s.Side, Rows: int64(s.Rows), Cols: int64(s.Cols), Width: width, Masked: e.Masked}
	columns, after := e.Rows.columns()
	header.RowColumns, data = columns, append(data, after...)
	if header.Size() != int64(len(data)) {
		return protocol.ReleasedSketch{}, nil, fmt.Errorf("encoding sketch: its row columns do not have %d rows", s.Rows)
	}
	for at := 0; at < len(data); at += protocol.ChunkSize {
		header.Chunks = append(header.Chunks, sha256.Sum256(data[at:min(at+protocol.ChunkSize, len(data))]))
	}
	return header, data, nil
}

// largestEntry bounds the entries of an honest release: Plan.Limit, which is trillions of records,
// keeps them below it. So the sum over all parties fits an int64, whatever they send, and a party
// that sends too much can be named. For more parties Plan.largest is less.
const largestEntry = 1 << 62 / study.MostWhole

// Decode reads the entries of a sketch whose chunks were checked against its header. It checks what
// hashes cannot: that the width is the least one, and the range. It allocates what the header says:
// call Check first unless you know that r holds as much. DecodeRows reads what follows the entries,
// from where Decode leaves r.
func Decode(h protocol.ReleasedSketch, r io.Reader) (sketch.Sketch, error) {
	if err := addressable(h); err != nil {
		return sketch.Sketch{}, err
	}
	size, err := sketch.EncodedSize(int(h.Rows), int(h.Cols), h.Width)
	if err == nil && !h.Side.Known() {
		err = fmt.Errorf("unknown side %.20q", string(h.Side))
	}
	if err != nil {
		return sketch.Sketch{}, fmt.Errorf("decoding sketch: %w", err)
	}
	s := sketch.Sketch{Side: h.Side, Rows: int(h.Rows), Cols: int(h.Cols), Data: make([]int64, 0, size/int64(h.Width))}
	err = scan(h, r, func(entries []int64) { s.Data = append(s.Data, entries...) })
	if err != nil {
		return sketch.Sketch{}, err
	}
	return s, nil
}

// Scan passes what Decode would return to take, block by block and in order. Its memory does not
// grow with the sketch.
func Scan(h protocol.ReleasedSketch, r io.Reader, take func(entries []int64)) error {
	return scan(h, r, take)
}

// Check performs the checks of Decode, Unpack and DecodeRows without returning data. Its memory
// does not grow with the sketch.
func (p Plan) Check(h protocol.ReleasedSketch, r io.Reader) error {
	var at, wrong int64 // entries so far; the first row with an unknown label, from 1
	var head []int64
	first := p.Head() * len(p.Features)
	if p.Moments != nil {
		first = p.prefix()
	}
	var far error
	err := scan(h, r, func(entries []int64) {
		if h.Masked == 0 && far == nil {
			far = p.inRange(entries)
		}
		if left := first - len(head); left > 0 {
			head = append(head, entries[:min(left, len(entries))]...)
		}
		if p.Labels == nil {
			return
		}
		for _, v := range entries {
			if at++; at%h.Cols == 0 && !p.Labels.known(v) && wrong == 0 {
				wrong = at / h.Cols
			}
		}
	})
	if err == nil {
		err = far
	}
	if err != nil {
		return err
	}
	if wrong > 0 {
		return p.Labels.unknown(wrong)
	}
	if p.Own != nil {
		if _, err := p.Owned(head); err != nil {
			return err
		}
	}
	if p.Moments != nil {
		if _, err := p.chosen(head); err != nil {
			return err
		}
	}
	return scanRows(h, r, func(Pseudonym) {})
}

func addressable(h protocol.ReleasedSketch) error {
	if int64(int(h.Rows)) != h.Rows || int64(int(h.Cols)) != h.Cols {
		return fmt.Errorf("decoding sketch: %d × %d is more than this machine can address", h.Rows, h.Cols)
	}
	return nil
}

// largest is largestEntry for the plan's study.
func (p Plan) largest() int64 {
	if p.Study == nil {
		return largestEntry
	}
	return 1 << 62 / p.Study.ExactParties()
}

var errRange = errors.New("an entry is out of range")

// inRange checks unmasked entries against the limit for the study's parties.
func (p Plan) inRange(entries []int64) error {
	most := p.largest()
	for _, v := range entries {
		if v >= most || v <= -most {
			return errRange
		}
	}
	return nil
}

// scan reads the entries of a sketch in blocks and checks them.
func scan(h protocol.ReleasedSketch, r io.Reader, take func([]int64)) error {
	if err := addressable(h); err != nil {
		return err
	}
	width := 1
	from := r
	if len(h.RowColumns) > 0 { // they follow the entries
		from = io.LimitReader(r, h.Entries())
	}
	err := sketch.Scan(int(h.Rows), int(h.Cols), h.Width, from, func(entries []int64) error {
		for _, v := range entries {
			if h.Masked == 0 && (v >= largestEntry || v <= -largestEntry) {
				return errRange
			}
		}
		width = max(width, sketch.Sketch{Data: entries}.Width())
		take(entries)
		return nil
	})
	if err != nil {
		return fmt.Errorf("decoding sketch: %w", err)
	}
	if h.Masked > 0 {
		width = maskedWidth // random words may need any width
	}
	if width != h.Width {
		return fmt.Errorf("decoding sketch: written %d bytes wide where %d suffice", h.Width, width)
	}
	return nil
}

// MaxBytes bounds one encoded sketch, so that one party cannot fill the
// aggregator's disk.
const MaxBytes = 64 << 30

// CheckHeader checks a party's header against the study: the number of sketches, and the side and
// shape of each.
func CheckHeader(s *study.Study, party int, r protocol.Release) error {
	h, err := HeadersOf(s)
	if err != nil {
		return err
	}
	return h.Check(party, r)
}

// Headers checks the headers of a study's parties. It computes once what is common to all parties.
type Headers struct {
	study *study.Study
	parts []study.Part // by sketch
}

// HeadersOf returns the header checks of a study.
func HeadersOf(s *study.Study) (*Headers, error) {
	h := &Headers{study: s}
	for i := range s.Sketches {
		part, err := s.Part(i)
		if err != nil {
			return nil, planning(i, err)
		}
		h.parts = append(h.parts, part)
	}
	return h, nil
}

// Check is CheckHeader.
func (of *Headers) Check(party int, r protocol.Release) error {
	s := of.study
	if r.Records < 1 {
		return fmt.Errorf("release of %d records", r.Records)
	}
	if len(r.Sketches) != len(s.Sketches) {
		return fmt.Errorf("release of %d sketches, the study has %d", len(r.Sketches), len(s.Sketches))
	}
	if want := len(s.Published()); len(r.Published) != want {
		return fmt.Errorf("release with %d public row keys, the study publishes %d", len(r.Published), want)
	}
	if err := checkMasked(s, r); err != nil {
		return err
	}
	for i, h := range r.Sketches {
		p, err := plan(s, party, i, of.parts[i])
		if err == nil {
			err = p.checkShape(h, r.Records)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkShape checks the header of one sketch of that many records.
func (p Plan) checkShape(h protocol.ReleasedSketch, records int64) error {
	if h.Side != p.Sketch().Side {
		return fmt.Errorf("sketch %d is of the %s side, the study asks for %s", p.Index+1, h.Side, p.Sketch().Side)
	}
	if records > p.Limit {
		return fmt.Errorf("sketch %d is of %d records, at most %d are exact", p.Index+1, records, p.Limit)
	}
	if rows, cols := p.Shape(records); h.Rows != rows || h.Cols != cols {
		return fmt.Errorf("sketch %d is %d × %d, the study and %d records make it %d × %d", p.Index+1, h.Rows, h.Cols, records, rows, cols)
	}
	if want := p.RowColumns(); !slices.Equal(h.RowColumns, want) {
		return fmt.Errorf("sketch %d has row columns %v, the study asks for %v", p.Index+1, h.RowColumns, want)
	}
	if h.Size() > MaxBytes {
		return fmt.Errorf("sketch %d has %d bytes, at most %d", p.Index+1, h.Size(), int64(MaxBytes))
	}
	return nil
}
