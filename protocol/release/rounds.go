package release

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
)

// CheckFirst checks a party's first round against the study: that it has each sketch of that round,
// in order and of the shape the study fixes, and its data as Check does.
func CheckFirst(s *study.Study, party int, f protocol.First) error {
	of, err := HeadersOf(s)
	if err != nil {
		return err
	}
	return of.CheckFirst(party, f)
}

// CheckFirst is the function CheckFirst.
func (of *Headers) CheckFirst(party int, f protocol.First) error {
	s := of.study
	if f.Records < 1 {
		return fmt.Errorf("first round of %d records", f.Records)
	}
	if err := checkMasked(s, protocol.Release{Records: f.Records, Sketches: f.Sketches}); err != nil {
		return err
	}
	at := 0
	for i := range s.Sketches {
		if s.SecondRound(i) {
			continue
		}
		if at == len(f.Sketches) {
			return fmt.Errorf("first round without sketch %d", i+1)
		}
		p, err := plan(s, party, i, of.parts[i])
		if err == nil {
			err = p.checkShape(f.Sketches[at], f.Records)
		}
		if err == nil {
			err = p.Check(f.Sketches[at], bytes.NewReader(f.Data[at]))
		}
		if err != nil {
			return fmt.Errorf("first round: %w", err)
		}
		at++
	}
	if at != len(f.Sketches) {
		return fmt.Errorf("first round of %d sketches, the study has %d of that round", len(f.Sketches), at)
	}
	return nil
}

// CheckBasis checks that a study can use the result of its first round: that nothing in it is out
// of range. It does not check that this follows from the first rounds; no guarantee depends on
// that.
func CheckInterim(s *study.Study, b protocol.Basis) error {
	if err := checkBasis(s, b); err != nil {
		return fmt.Errorf("interim: %w", err)
	}
	return nil
}

func checkBasis(s *study.Study, b protocol.Basis) error {
	for i, sk := range s.Sketches {
		if sk.Side == sketch.Codes {
			if len(b.Clips)+len(b.Moves) > 0 {
				return errors.New("it has clips or moves, but the study uses a codebook")
			}
			return b.Codebook.Validate(len(s.Features(0, i)), s.Bits)
		}
	}
	pooled := s.PooledMoments()
	switch {
	case len(pooled) == 0:
		return errors.New("the study has no second round")
	case len(b.Codebook.Centre)+len(b.Codebook.Axes)+len(b.Codebook.Codes) > 0 || b.Codebook.Radius != 0:
		return errors.New("it has a codebook, but the study uses clips")
	case len(b.Clips) != len(pooled):
		return fmt.Errorf("%d clips, but the second round has %d sketches", len(b.Clips), len(pooled))
	}
	for at, i := range pooled {
		if !slices.Contains(s.ClipEdges(i), b.Clips[at]) {
			return fmt.Errorf("clip %d for sketch %d is not one of the study's clips", b.Clips[at], i+1)
		}
	}
	return checkMoves(s, pooled[0], b.Moves)
}

// checkMoves refuses moves of moment entries that the study does not have, and moves that put a
// value within its bounds out of range.
func checkMoves(s *study.Study, index int, moves []sketch.Standard) error {
	if !s.LooksAtValues() {
		if len(moves) > 0 {
			return errors.New("it moves entries, but the study standardises none")
		}
		return nil
	}
	features, entries := s.Features(0, index), s.MomentEntries(index)
	if len(moves) != len(entries) {
		return fmt.Errorf("moves for %d entries, want %d", len(moves), len(entries))
	}
	one := s.Bits.One()
	for i, at := range entries {
		f, m := features[at], moves[i]
		ok := m == s.PublicStandard(f)
		if s.Scaled(f) {
			far := s.Columns[f.Column].Scale.Range(s.Bits)
			ok = m.Centre >= 16*(one-far) && m.Centre <= 16*one && m.Spread >= 1 && m.Spread <= 24*far
		}
		if !ok {
			return fmt.Errorf("entry %d is moved by %d and scaled by %d sixteenths, which is out of range", i+1, m.Centre, m.Spread)
		}
	}
	return nil
}

// Basis returns what the second round uses, given the parties' sum of a look with this plan, the
// total number of records, and the number of parties in the sum.
func (p Plan) Basis(sums sketch.Sketch, records int64, parties int) (b protocol.Basis, err error) {
	s := p.Study
	if want := p.row(); sums.Side != want.Side {
		return b, fmt.Errorf("a sum of side %s is not a look", sums.Side)
	}
	rows, cols := p.Shape(records)
	if int64(sums.Rows) != rows || int64(sums.Cols) != cols || int64(len(sums.Data)) != rows*cols {
		return b, fmt.Errorf("reading a look: %s, want %d × %d", sums, rows, cols)
	}
	deviation := math.Sqrt(float64(parties) * p.Noise.Variance())
	pooled := s.PooledMoments()
	if s.LooksAtValues() {
		var entries []study.Feature
		for _, at := range s.MomentEntries(pooled[0]) {
			entries = append(entries, p.Features[at])
		}
		b.Moves = sum.Moves(s, s.ValuesLooked(), entries, sums.Data, records, deviation)
	}
	for _, i := range pooled {
		of := counted{clips: s.ClipEdges(i), records: records, sd: deviation / dp.CountWeight}
		of.usual = usualClip(s, i, of.clips, float64(records))
		edge := of.usual
		if !s.LooksAtValues() {
			if of.mu, of.parties, err = p.pooledNoise(i, parties); err != nil {
				return b, err
			}
			of.noisy = slices.Clone(sums.Data[:len(of.clips)+1])
			for _, n := range sums.Data[len(of.clips)+1:] { // longer than this sketch's last clip
				of.noisy[len(of.clips)] += n
			}
			edge = of.choose(s, i)
		}
		b.Clips = append(b.Clips, of.clips[edge])
	}
	return b, nil
}

// pooledNoise returns the μ of a moments sketch, and counted.parties for a sum over that many
// parties if counted.records is their total. The noise of that sum is that of parties plain
// releases or, under masks, parties/Sharers.
func (p Plan) pooledNoise(index, parties int) (mu, as float64, err error) {
	of, err := For(p.Study, p.Party, index)
	if err != nil {
		return 0, 0, err
	}
	return of.Moments.mu, float64(p.Study.HonestMembers(parties)) / float64(parties), nil
}
