package release

import (
	"bytes"
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// CheckFirst checks a party's first round against the study: each sketch of that round, in order, of the shape that
// the study fixes, and its data as Check does.
func CheckFirst(s *study.Study, party int, f protocol.First) error {
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
			return fmt.Errorf("first round without sketch %d", i)
		}
		p, err := For(s, party, i)
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

// CheckInterim checks that a study can go by a codebook: that nothing in it is out of range. Whether it is the one
// that follows from the first rounds is another question, on which no promise hangs.
func CheckInterim(s *study.Study, c sketch.Codebook) error {
	for i := range s.Sketches {
		if !s.SecondRound(i) {
			continue
		}
		if err := c.Validate(len(s.Features(0, i)), s.Bits); err != nil {
			return fmt.Errorf("interim: %w", err)
		}
	}
	return nil
}
