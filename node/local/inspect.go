package local

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Inspection describes a party's stored release.
type Inspection struct {
	Study    string            `json:"study"`
	Name     string            `json:"name"`
	Party    string            `json:"party"`    // the party that made it
	Envelope string            `json:"envelope"` // id of the signed header
	T2       string            `json:"t2"`
	Records  int64             `json:"records"`
	Person   *float64          `json:"epsilon_per_person"` // for one person, over all the study's releases; null without a guarantee
	Delta    float64           `json:"delta"`              // at which Person holds
	Sketches []InspectedSketch `json:"sketches"`
	Intact   bool              `json:"intact"` // every sketch matches its signed hashes
}

// InspectedSketch describes one sketch of a release.
type InspectedSketch struct {
	Side       string           `json:"side"`
	Projection string           `json:"projection"` // how records are compressed, in words
	Family     string           `json:"family"`
	K          int              `json:"k"`
	S          int              `json:"s,omitempty"`
	Rows       int64            `json:"rows"`
	Cols       int64            `json:"cols"`
	Width      int              `json:"width"` // bytes of an entry
	Bytes      int64            `json:"bytes"`
	Beside     []string         `json:"beside,omitempty"` // contents of each row besides its entries, like pseudonym
	Bits       int              `json:"bits"`
	Scale      float64          `json:"scale"` // the real factor of R; 1 for sums
	Mechanism  string           `json:"mechanism"`
	Noise      string           `json:"noise"`    // in words
	Variance   float64          `json:"variance"` // of one entry's noise, in squared units of entries; under randomised-response of one value's
	Statement  string           `json:"statement"`
	Masked     int              `json:"masked,omitempty"`    // number of members; entries are noised and then masked, so they look uniformly random
	Labels     string           `json:"labels,omitempty"`    // what the last column has, in words
	LabelsAs   study.Labels     `json:"labels_as,omitempty"` // the same as a code: plain or randomised
	Exposure   string           `json:"exposure,omitempty"`  // what it gives away; only for mechanism none
	Chunks     []InspectedChunk `json:"chunks"`
	Clipped    *int64           `json:"clipped,omitempty"` // records cut to the clip; stored only here, only for unit record
	Intact     bool             `json:"intact"`
	Histogram  []Bin            `json:"histogram,omitempty"` // of the entries; absent if damaged or masked
}

// InspectedChunk compares one chunk with its signed hash.
type InspectedChunk struct {
	SHA256 string `json:"sha256"`
	Intact bool   `json:"intact"`
}

// Bin counts the entries from Low to High, both inclusive.
type Bin struct {
	Low   int64 `json:"low"`
	High  int64 `json:"high"`
	Count int64 `json:"count"`
}

// Inspect reads a party's own stored release of a study and compares it with its signed header. It
// returns store.ErrNotFound before a release exists. A damaged sketch is reported in the
// Inspection; a damaged header is an error.
func Inspect(st *store.Store, s *study.Study) (Inspection, error) {
	self, err := st.ID()
	if err != nil {
		return Inspection{}, err
	}
	files := st.Release(s.ID)
	e, err := releaseEnvelope(files)
	if err == nil && e.Sender() != self {
		err = errors.New("stored release: the header is not this party's")
	}
	if err != nil {
		return Inspection{}, err
	}
	return InspectFiles(files, s)
}

// ReleasedStudy returns the study that a release names, after verifying its signature.
func ReleasedStudy(files store.ReleaseDir) (protocol.StudyID, error) {
	e, err := releaseEnvelope(files)
	return e.Study(), err
}

func releaseEnvelope(files store.ReleaseDir) (protocol.Verified, error) {
	raw, err := files.Header()
	if err != nil {
		return protocol.Verified{}, err
	}
	e, err := stored.DecodeVerified(raw)
	if err != nil {
		return e, fmt.Errorf("stored release: %w", err)
	}
	return e, nil
}

// InspectFiles inspects the release of any party of a study in any directory, such as a copy from a
// backup.
func InspectFiles(files store.ReleaseDir, s *study.Study) (Inspection, error) {
	e, err := releaseEnvelope(files)
	if err != nil {
		return Inspection{}, err
	}
	party, ok := s.PartyIndex(e.Sender())
	if !ok || e.Study() != s.ID || e.Kind() != protocol.KindRelease {
		return Inspection{}, errors.New("stored release: the header is not that of a release by a party of this study")
	}
	if s, err = stored.By(s, files); err != nil {
		return Inspection{}, fmt.Errorf("stored release: %w", err)
	}
	header, err := wire.DecodeRelease(e.Payload())
	if err == nil {
		err = release.CheckHeader(s, party, header)
	}
	if err != nil {
		return Inspection{}, fmt.Errorf("stored release: %w", err)
	}
	out := Inspection{Study: s.ID.String(), Name: s.Name, Party: s.Parties[party].Name, Envelope: e.ID().String(), T2: header.T2.String(), Records: header.Records, Intact: true}
	person, err := s.PerPerson()
	if err != nil {
		return out, err
	}
	if e := float64(person.Epsilon); !math.IsInf(e, 0) {
		out.Person, out.Delta = &e, float64(person.Delta)
	}
	clipped, err := stored.ReadClipped(files)
	if err != nil {
		return out, err
	}
	for i, h := range header.Sketches {
		plan, err := release.For(s, party, i)
		if err == nil && h.Masked > 0 {
			plan, err = plan.Among(h.Masked)
		}
		if err != nil {
			return out, err
		}
		one, err := inspectSketch(files, plan, h, header.Records)
		if err != nil {
			return out, fmt.Errorf("stored sketch %d: %w", i+1, err)
		}
		if i < len(clipped) && clipped[i] != job.Uncounted {
			one.Clipped = &clipped[i]
		}
		out.Intact = out.Intact && one.Intact
		out.Sketches = append(out.Sketches, one)
	}
	return out, nil
}

func inspectSketch(files store.ReleaseDir, p release.Plan, h protocol.ReleasedSketch, records int64) (InspectedSketch, error) {
	g := p.Noise.Guarantee()
	out := InspectedSketch{
		Side: string(h.Side), Projection: p.Sketch().Method(), Family: string(p.Spec().Family), K: p.Spec().K, S: p.Spec().S, Rows: h.Rows, Cols: h.Cols,
		Width: h.Width, Bytes: h.Size(), Bits: int(p.Study.Bits), Scale: p.Spec().Scale(), Mechanism: string(g.Mechanism()),
		Noise: p.Noise.String(), Variance: p.Noise.Variance(), Statement: p.Statement(), Labels: labelsText(p), LabelsAs: labelsAs(p), Masked: h.Masked,
	}
	for _, c := range h.RowColumns {
		out.Beside = append(out.Beside, c.Name)
	}
	if h.Side.Sums() {
		out.Scale = 1
	}
	if !p.Flips.Zero() {
		out.Noise, out.Variance = p.Flips.String(), p.Flips.Variance()
	}
	if g.Mechanism() == dp.None {
		e, err := p.Study.Reveals(p.Party, p.Index, int(records))
		if err != nil {
			return out, err
		}
		out.Exposure = e.String()
	}
	file, err := files.Open(filename.Sketch(p.Index))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	if err == nil {
		defer file.Close()
	}
	out.Intact = file != nil && file.Size() == h.Size()
	buf := make([]byte, min(protocol.ChunkSize, h.Size()))
	for i, want := range h.Chunks {
		at := int64(i) * protocol.ChunkSize
		piece := buf[:min(protocol.ChunkSize, h.Size()-at)]
		intact := false
		if file != nil {
			if _, err := file.ReadAt(piece, at); err == nil {
				intact = protocol.Digest(sha256.Sum256(piece)) == want
			} else if !errors.Is(err, io.EOF) {
				return out, err
			}
		}
		out.Chunks = append(out.Chunks, InspectedChunk{want.String(), intact})
		out.Intact = out.Intact && intact
	}
	if p.Sketch().OwnClip {
		if err := out.choseClip(file, p, h); err != nil {
			return out, err
		}
	}
	if out.Intact && h.Masked == 0 {
		values := h.Cols
		if p.Labels != nil {
			values-- // a label is not an entry
		}
		out.Histogram, err = histogram(file, h, values)
		return out, err
	}
	return out, nil
}

// choseClip describes the noise of a sketch whose party chose its own clip, which the entries
// contain.
func (i *InspectedSketch) choseClip(file io.ReaderAt, p release.Plan, h protocol.ReleasedSketch) error {
	if !i.Intact {
		i.Noise, i.Variance = "noise for a clip that the damaged entries name", 0
		return nil
	}
	data := make([]byte, h.Size())
	if _, err := file.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	s, err := sketch.Decode(h.Side, int(h.Rows), int(h.Cols), h.Width, data)
	if err != nil {
		return err
	}
	noise, err := p.NoiseIn(s)
	if err != nil {
		return err
	}
	i.Noise, i.Variance = noise.String(), noise.Variance()
	return nil
}

// bins is the number of bars of a histogram.
const bins = 12

// histogram counts the entries of a sketch's first cols columns in bins of equal width, in two
// passes.
func histogram(file io.ReaderAt, h protocol.ReleasedSketch, cols int64) ([]Bin, error) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	err := eachEntry(file, h, cols, func(v int64) { low, high = min(low, v), max(high, v) })
	if err != nil {
		return nil, err
	}
	step := uint64(high-low)/bins + 1 // in uint64, in which the difference of two entries cannot overflow
	out := make([]Bin, uint64(high-low)/step+1)
	for i := range out {
		out[i].Low = low + int64(uint64(i)*step)
		out[i].High = out[i].Low + int64(step-1)
	}
	out[len(out)-1].High = high
	return out, eachEntry(file, h, cols, func(v int64) { out[uint64(v-low)/step].Count++ })
}

// eachEntry decodes the entries of a sketch's first columns, some rows at a time.
func eachEntry(file io.ReaderAt, h protocol.ReleasedSketch, cols int64, take func(int64)) error {
	row := h.Cols * int64(h.Width)
	block := max(1, protocol.ChunkSize/row)
	for first := int64(0); first < h.Rows; first += block {
		rows := min(block, h.Rows-first)
		data := make([]byte, rows*row)
		if _, err := file.ReadAt(data, first*row); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s, err := sketch.Decode(h.Side, int(rows), int(h.Cols), h.Width, data)
		if err != nil {
			return err
		}
		for i := range s.Rows {
			for _, v := range s.Row(i)[:cols] {
				take(v)
			}
		}
	}
	return nil
}
