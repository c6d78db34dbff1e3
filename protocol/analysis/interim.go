package analysis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/codebook"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/stream"
)

// FromFirst returns a party's first round as a contribution. Sketches of the second round are
// empty.
func FromFirst(s *study.Study, id protocol.Digest, party protocol.PeerID, f protocol.First) (Contribution, error) {
	at, ok := s.PartyIndex(party)
	if !ok {
		return Contribution{}, fmt.Errorf("first round of %s: the study does not list it", party)
	}
	if err := release.CheckFirst(s, at, f); err != nil {
		return Contribution{}, err
	}
	c := Contribution{Party: at, Header: id, Records: f.Records, Masked: f.Sketches[0].Masked}
	next := 0
	for i := range s.Sketches {
		if s.SecondRound(i) {
			c.Sketches = append(c.Sketches, sketch.Sketch{Side: s.Sketches[i].Side})
			continue
		}
		plan, err := release.For(s, at, i)
		if err != nil {
			return Contribution{}, fmt.Errorf("first round: %w", err)
		}
		one, err := release.Decode(f.Sketches[next], bytes.NewReader(f.Data[next]))
		if err == nil {
			one, _, err = plan.Unpack(one)
		}
		if err != nil {
			return Contribution{}, fmt.Errorf("first round: %w", err)
		}
		c.Sketches, c.Bytes, next = append(c.Sketches, one), c.Bytes+f.Sketches[next].Size(), next+1
	}
	return c, nil
}

// ComputeBasis computes the basis of the second round from the first rounds. The contributions come from
// FromFirst.
func ComputeBasis(ctx context.Context, o Options) (b protocol.Basis, err error) {
	if _, looks := o.Study.Look(); looks {
		if b, err = o.pooled(); err != nil {
			err = fmt.Errorf("answering the first round: %w", err)
		}
		return b, err
	}
	d, err := drafted(ctx, o)
	if err != nil {
		return b, fmt.Errorf("answering the first round: %w", err)
	}
	return protocol.Basis{Codebook: d.Codebook}, nil
}

// pooled returns how moments are shifted and clipped, computed from all parties' looks.
func (o Options) pooled() (b protocol.Basis, err error) {
	if err := o.check(); err != nil {
		return b, err
	}
	r := &run{Options: o}
	at, _ := o.Study.Look()
	x, sum, err := r.together(at)
	if err != nil {
		return b, err
	}
	return x.plan.Basis(sum, r.records(), len(o.Contributions))
}

// agrees compares the computed basis with the received one. Clips, chosen among few, must be equal,
// and so must scales that do not depend on the data. A centre or a spread may differ by one in its
// last place.
func agrees(follows, said protocol.Basis) error {
	if !slices.Equal(follows.Clips, said.Clips) {
		return fmt.Errorf("it has clips of %d steps; the first rounds give %d", said.Clips, follows.Clips)
	}
	if len(follows.Moves) != len(said.Moves) {
		return fmt.Errorf("it has %d moves; the first rounds give %d", len(said.Moves), len(follows.Moves))
	}
	for i, want := range follows.Moves {
		got := said.Moves[i]
		if far(got.Centre, want.Centre) || far(got.Spread, want.Spread) {
			return fmt.Errorf("it shifts entry %d by %d and scales it by %d sixteenths of a step; the first rounds give %d and %d", i+1, got.Centre, got.Spread, want.Centre, want.Spread)
		}
	}
	return nil
}

func far(a, b int64) bool { return a > b+1 || a < b-1 }

// drafted computes the codebook. Its public points derive from the study, so everybody has the same
// ones.
func drafted(ctx context.Context, o Options) (*codebook.Draft, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &run{Options: o}
	at := slices.IndexFunc(o.Study.Sketches, func(sk study.Sketch) bool { return sk.Side == sketch.Codes })
	if at < 0 {
		return nil, errors.New("the study has one round")
	}
	plan, err := r.planned(o.Contributions[0].Party, at)
	if err != nil {
		return nil, err
	}
	x := axes{plan, o.Study.Centres(at)}
	known, err := r.beside(ctx, x, at)
	if err != nil {
		return nil, err
	}
	one, n := float64(o.Study.Bits.One()), float64(r.records())
	_, count := plan.CodeNoise(len(o.Contributions))
	options := codebook.Options{
		Bits: o.Study.Bits, Records: n, Clusters: o.Study.MostClusters(at), Count: math.Sqrt(count), Workers: o.Workers,
		Noise:  known.product / n / n * one * one * one * one,
		Public: stream.New(protocol.Hash("cosketch/1/codebook", o.Study.ID[:])),
	}
	covariance := mat.NewSymDense(len(plan.Features), nil)
	for i, mean := range known.records.Mean {
		options.Mean = append(options.Mean, float64(x.centres[i])+one*mean)
		for j := range i + 1 {
			covariance.SetSym(i, j, one*one*known.records.Covariance.At(i, j))
		}
	}
	options.Covariance = covariance
	return codebook.New(ctx, options)
}

// BasisError reports an interim that does not follow from the first rounds.
type BasisError struct{ Err error }

func (e *BasisError) Error() string { return e.Fail().Error() }

// Fail returns the error of the catalogue.
func (e *BasisError) Fail() *fail.Error { return fail.OtherInterim.Of(e.Err) }

// Unwrap returns what differs.
func (e *BasisError) Unwrap() error { return e.Err }

// CheckBasis recomputes the interim and compares. It returns an *BasisError if they differ by
// more than rounding.
func CheckBasis(ctx context.Context, o Options, b protocol.Basis) error {
	var differs error
	if _, looks := o.Study.Look(); looks {
		follows, err := o.pooled()
		if err != nil {
			return fmt.Errorf("examining the answer to the first round: %w", err)
		}
		differs = agrees(follows, b)
	} else {
		d, err := drafted(ctx, o)
		if err != nil {
			return fmt.Errorf("examining the answer to the first round: %w", err)
		}
		differs = d.Agrees(b.Codebook)
	}
	if differs != nil {
		return &BasisError{differs}
	}
	return nil
}
