package job

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Kind says which of a study's releases is made: a Study, a First or a Query.
type Kind interface {
	plans([]release.Plan) ([]release.Plan, error)
	entry(ledger.Entry) ledger.Entry
	fits(s Spec, records int64) error
	mask(plan release.Plan, noised *release.Exact) error
	seal(s Spec, described []protocol.ReleasedSketch, data [][]byte, records int64) (header []byte, err error)
	before() *protocol.First // what is sent again unchanged; nil: nothing
	stored(s Spec, header []byte) (out Stored, void bool, err error)
}

// Study is the release of a study in an attempt of the agreement.
type Study struct {
	Attempt uint32
	T2      protocol.Digest
	Pairs   agree.Pairs     // under masked sums: the secrets of the masks
	Round   int             // how many releases of void attempts may have left before
	Before  *protocol.First // the first of two rounds, required in such studies: this release repeats it. Spec's plans are those of the second
}

// First is the first round of a study with two, in an attempt. Spec's plans are those of that
// round.
type First struct {
	Attempt uint32
	T2      protocol.Digest
	Pairs   agree.Pairs
	Round   int // as in Study
}

// Query is a query about records that are in no release.
type Query struct {
	Number int // of the party's queries in the study, from 1
	T2     protocol.Digest
}

func (w Study) plans(all []release.Plan) ([]release.Plan, error) {
	if two := all[0].Study.TwoRounds(); two != (w.Before != nil) {
		return nil, errors.New("a study of two rounds needs the first round before the second; a study of one round has none")
	}
	return ofRound(all, w.Pairs, w.Before != nil)
}

func (w First) plans(all []release.Plan) ([]release.Plan, error) { return ofRound(all, w.Pairs, false) }

// ofRound returns the plans for the members of an attempt. All must be of one round: with second,
// of the second of two.
func ofRound(all []release.Plan, pairs agree.Pairs, second bool) ([]release.Plan, error) {
	out := append([]release.Plan(nil), all...)
	for i, plan := range out {
		if plan.Study.SecondRound(plan.Index) != second {
			return nil, fmt.Errorf("releasing sketch %d, which is of another round", plan.Index+1)
		}
		if !plan.Study.Masked() {
			continue
		}
		if pairs.Members() == 0 {
			return nil, errors.New("releasing a masked sum without the secrets of its masks")
		}
		var err error
		if out[i], err = plan.Among(pairs.Members()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w Query) plans(all []release.Plan) ([]release.Plan, error) {
	if len(all) != 1 {
		return nil, fmt.Errorf("a query has exactly one sketch, got %d", len(all))
	}
	return all, nil
}

func (w Study) entry(e ledger.Entry) ledger.Entry { e.Round = w.Round; return e }
func (w First) entry(e ledger.Entry) ledger.Entry { e.Round = w.Round; return e }
func (w Query) entry(e ledger.Entry) ledger.Entry { e.Query = w.Number; return e }

// widest is the size in bytes of the widest entry.
const widest = 8

// fits returns an error if the header for that many records might exceed the largest one that
// others read, or a sketch the largest one they take. The width of entries is known only once noise
// is drawn, which would be too late: fits assumes the greatest width. A party with more than that
// has more than 64 GiB of exact entries in memory.
func (w Study) fits(s Spec, records int64) error {
	of := s.Plans[0].Study // of two rounds: as the interim fixes it
	header := protocol.Release{T2: w.T2, Records: records, Published: make([][32]byte, len(of.Published()))}
	header.Sketches = allRounds(of, w.Before, s.widest(records, w.Pairs), func(f *protocol.First, i int) protocol.ReleasedSketch { return f.Sketches[i] })
	if err := release.CheckHeader(of, s.Plans[0].Party, header); err != nil {
		return &SizeError{records, err}
	}
	for i, one := range header.Sketches { // whose sizes are bounded here
		header.Sketches[i].Chunks = make([]protocol.Digest, (one.Size()+protocol.ChunkSize-1)/protocol.ChunkSize)
	}
	envelope := protocol.Envelope{Kind: protocol.KindRelease, Payload: wire.EncodeRelease(header)}
	if err := envelope.CheckSize(); err != nil {
		return &SizeError{records, err}
	}
	return nil
}

// widest returns the headers of sketches of that many records with entries of the greatest width.
func (s Spec) widest(records int64, pairs agree.Pairs) (out []protocol.ReleasedSketch) {
	for _, plan := range s.Plans {
		one := protocol.ReleasedSketch{Side: plan.Sketch().Side, Width: widest, RowColumns: plan.RowColumns()}
		one.Rows, one.Cols = plan.Shape(records)
		if plan.Study.Masked() {
			one.Masked = pairs.Members()
		}
		out = append(out, one)
	}
	return out
}

// fits returns an error if the first round is larger than what others read.
func (w First) fits(s Spec, records int64) error {
	first := protocol.First{T2: w.T2, Records: records, Sketches: s.widest(records, w.Pairs)}
	for i, one := range first.Sketches {
		size := one.Size()
		if size > int64(protocol.KindFirst.MaxPayload()) {
			return &SizeError{records, fmt.Errorf("the first round has a sketch of %d bytes", size)}
		}
		first.Sketches[i].Chunks = make([]protocol.Digest, 1)
		first.Data = append(first.Data, make([]byte, size))
	}
	envelope := protocol.Envelope{Kind: protocol.KindFirst, Payload: wire.EncodeFirst(first)}
	if err := envelope.CheckSize(); err != nil {
		return &SizeError{records, err}
	}
	return nil
}

// allRounds merges values for the sketches of the second round with those of the first round, in
// the order of the study's sketches. Without a first round it returns second.
func allRounds[T any](of *study.Study, before *protocol.First, second []T, first func(*protocol.First, int) T) (out []T) {
	if before == nil {
		return second
	}
	next := 0
	for i := range of.Sketches {
		if at := len(out) - next; !of.SecondRound(i) {
			out = append(out, first(before, at))
			continue
		}
		out = append(out, second[next])
		next++
	}
	return out
}

// SizeError reports a number of records whose release nobody would take. Nothing was spent.
type SizeError struct {
	Records int64
	Err     error
}

func (e *SizeError) Error() string { return e.Fail().Error() }

// Fail returns the error as an entry of the catalogue.
func (e *SizeError) Fail() *fail.Error { return fail.ReleaseSize.Of(e.Err, e.Records) }

// Unwrap returns what is too large or too small.
func (e *SizeError) Unwrap() error { return e.Err }

// fits accepts all: the statement of a query has a fixed size, and the study bounds the records.
func (w Query) fits(s Spec, records int64) error { return nil }

func (w Study) mask(plan release.Plan, noised *release.Exact) error {
	if !plan.Study.Masked() {
		return nil
	}
	return noised.Mask(plan, w.Pairs)
}

func (w First) mask(plan release.Plan, noised *release.Exact) error {
	return Study{Pairs: w.Pairs}.mask(plan, noised)
}

func (w Query) mask(release.Plan, *release.Exact) error { return nil }

func (w Study) before() *protocol.First { return w.Before }
func (w First) before() *protocol.First { return nil }
func (w Query) before() *protocol.First { return nil }

func (w Study) seal(s Spec, described []protocol.ReleasedSketch, _ [][]byte, records int64) ([]byte, error) {
	published, err := release.Publish(s.Study, s.Keys)
	if err != nil {
		return nil, err
	}
	payload := wire.EncodeRelease(protocol.Release{T2: w.T2, Records: records, Sketches: described, Published: published})
	signed, err := s.Signer.Seal(s.Study.ID, protocol.KindRelease, w.Attempt, payload)
	if err != nil {
		return nil, err
	}
	return wire.EncodeEnvelope(signed.Envelope()), nil
}

func (w First) seal(s Spec, described []protocol.ReleasedSketch, data [][]byte, records int64) ([]byte, error) {
	payload := wire.EncodeFirst(protocol.First{T2: w.T2, Records: records, Sketches: described, Data: data})
	signed, err := s.Signer.Seal(s.Study.ID, protocol.KindFirst, w.Attempt, payload)
	if err != nil {
		return nil, err
	}
	return wire.EncodeEnvelope(signed.Envelope()), nil
}

func (w Query) seal(s Spec, described []protocol.ReleasedSketch, data [][]byte, _ int64) ([]byte, error) {
	one := described[0]
	signed := s.Signer.SignQuery(protocol.Query{
		Study: s.Study.ID, T2: w.T2, Number: uint32(w.Number), Rows: one.Rows, Cols: uint32(one.Cols), Width: uint8(one.Width),
		Data: protocol.Document{Hash: sha256.Sum256(data[0]), Size: int64(len(data[0]))},
	})
	return signed.Encode(), nil
}

// stored decodes the stored header. Under masked sums a header of an earlier attempt is void.
func (w Study) stored(s Spec, header []byte) (out Stored, void bool, err error) {
	return ofKind(s, protocol.KindRelease, w.Attempt, header)
}

func (w First) stored(s Spec, header []byte) (out Stored, void bool, err error) {
	return ofKind(s, protocol.KindFirst, w.Attempt, header)
}

// ofKind decodes a stored envelope of this party.
func ofKind(s Spec, kind protocol.Kind, attempt uint32, header []byte) (out Stored, void bool, err error) {
	e, err := wire.DecodeEnvelope(header)
	if err == nil {
		out.release, err = protocol.Verify(e)
	}
	if err == nil && (e.Kind != kind || e.Study != s.Study.ID || e.Sender != s.Signer.ID()) {
		err = errors.New("it is not from this party and study")
	}
	if err != nil {
		return Stored{}, false, fmt.Errorf("stored %s: %w", kind, err)
	}
	return out, s.Study.Masked() && out.release.Attempt() < attempt, nil
}

func (w Query) stored(s Spec, header []byte) (out Stored, void bool, err error) {
	out.query, err = protocol.DecodeQuery(s.Study.ID, s.Signer.ID(), header)
	if err == nil && int64(out.query.Number) != int64(w.Number) {
		err = fmt.Errorf("stored query has number %d, want %d", out.query.Number, w.Number)
	}
	return out, false, err
}
