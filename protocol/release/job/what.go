package job

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// What says which of a study's releases is made: a Study or a Query.
type What interface {
	plans([]release.Plan) ([]release.Plan, error)
	entry(ledger.Entry) ledger.Entry
	fits(s Spec, records int64) error
	mask(plan release.Plan, noised *release.Exact) error
	seal(s Spec, described []protocol.ReleasedSketch, data [][]byte, records int64) (header []byte, err error)
	stored(s Spec, header []byte) (out Stored, void bool, err error)
}

// Study is the release of a study in an attempt of the agreement.
type Study struct {
	Attempt uint32
	T2      protocol.Digest
	Pairs   agree.Pairs // of masked sums: what they are masked with
	Round   int         // how many releases of void attempts may have left before
}

// Query is a query about records that are in no release.
type Query struct {
	Number int // of the party's queries in the study, from 1
	T2     protocol.Digest
}

func (w Study) plans(all []release.Plan) ([]release.Plan, error) {
	out := append([]release.Plan(nil), all...)
	for i, plan := range out {
		if !plan.Study.Masked() {
			continue
		}
		if w.Pairs.Members() == 0 {
			return nil, errors.New("releasing a masked sum without the secrets that it is masked with")
		}
		var err error
		if out[i], err = plan.Among(w.Pairs.Members()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w Query) plans(all []release.Plan) ([]release.Plan, error) {
	if len(all) != 1 {
		return nil, fmt.Errorf("a query of %d sketches, and it has one", len(all))
	}
	return all, nil
}

func (w Study) entry(e ledger.Entry) ledger.Entry { e.Round = w.Round; return e }
func (w Query) entry(e ledger.Entry) ledger.Entry { e.Query = w.Number; return e }

// widest is the bytes of the widest entry.
const widest = 8

// fits refuses so many records that the header of their release could be larger than any that others
// read, or a sketch larger than any that they take. How wide entries are is known when noise is drawn, and
// then it would be too late: they are taken to be as wide as they can be. Who has more than that has more
// than 64 GiB of exact entries in memory.
func (w Study) fits(s Spec, records int64) error {
	of := s.Study
	header := protocol.Release{T2: w.T2, Records: records, Published: make([][32]byte, len(of.Published()))}
	for _, plan := range s.Plans {
		one := protocol.ReleasedSketch{Side: plan.Sketch().Side, Width: widest, RowColumns: plan.RowColumns()}
		one.Rows, one.Cols = plan.Shape(records)
		if plan.Study.Masked() {
			one.Masked = w.Pairs.Members()
		}
		header.Sketches = append(header.Sketches, one)
	}
	if err := release.CheckHeader(of, s.Plans[0].Party, header); err != nil {
		return &SizeError{records, err}
	}
	for i, one := range header.Sketches { // whose sizes are bounded by now
		header.Sketches[i].Chunks = make([]protocol.Digest, (one.Size()+protocol.ChunkSize-1)/protocol.ChunkSize)
	}
	envelope := protocol.Envelope{Kind: protocol.KindRelease, Payload: wire.EncodeRelease(header)}
	if err := envelope.CheckSize(); err != nil {
		return &SizeError{records, err}
	}
	return nil
}

// SizeError reports so many records that nobody would take their release. Nothing was spent.
type SizeError struct {
	Records int64
	Err     error
}

func (e *SizeError) Error() string { return e.Fail().Error() }

// Fail is what the catalogue says of it.
func (e *SizeError) Fail() *fail.Error { return fail.ReleaseSize.Of(e.Err, e.Records) }

// Unwrap returns what is too large, or too small.
func (e *SizeError) Unwrap() error { return e.Err }

// fits: the statement of a query has one size, and the study bounds the records.
func (w Query) fits(s Spec, records int64) error { return nil }

func (w Study) mask(plan release.Plan, noised *release.Exact) error {
	if !plan.Study.Masked() {
		return nil
	}
	return noised.Mask(plan, w.Pairs)
}

func (w Query) mask(release.Plan, *release.Exact) error { return nil }

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

func (w Query) seal(s Spec, described []protocol.ReleasedSketch, data [][]byte, _ int64) ([]byte, error) {
	one := described[0]
	signed := s.Signer.SignQuery(protocol.Query{
		Study: s.Study.ID, T2: w.T2, Number: uint32(w.Number), Rows: one.Rows, Cols: uint32(one.Cols), Width: uint8(one.Width),
		Data: protocol.Document{Hash: sha256.Sum256(data[0]), Size: int64(len(data[0]))},
	})
	return signed.Encode(), nil
}

// stored reads the stored header. Under masked sums that of an earlier attempt is void.
func (w Study) stored(s Spec, header []byte) (out Stored, void bool, err error) {
	e, err := wire.DecodeEnvelope(header)
	if err == nil {
		out.release, err = protocol.Verify(e)
	}
	if err == nil && (e.Kind != protocol.KindRelease || e.Study != s.Study.ID || e.Sender != s.Signer.ID()) {
		err = errors.New("it is none of this party's in this study")
	}
	if err != nil {
		return Stored{}, false, fmt.Errorf("stored release: %w", err)
	}
	return out, s.Study.Masked() && out.release.Attempt() < w.Attempt, nil
}

func (w Query) stored(s Spec, header []byte) (out Stored, void bool, err error) {
	out.query, err = protocol.DecodeQuery(s.Study.ID, s.Signer.ID(), header)
	if err == nil && int64(out.query.Number) != int64(w.Number) {
		err = fmt.Errorf("stored query: it has number %d in the place of %d", out.query.Number, w.Number)
	}
	return out, false, err
}
