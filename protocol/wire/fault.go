package wire

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
	"github.com/cosketch/cosketch/seed/agree"
)

// Payloads of the kinds for faults.

// EncodeComplaint encodes a complaint: the opening of an attempt.
func EncodeComplaint(o agree.Opening) []byte {
	m := &wirepb.Complaint{Key: o.Key, Contribution: o.Contribution[:], Blinder: o.Blinder[:]}
	for _, w := range o.Wrong {
		m.Wrong = append(m.Wrong, &wirepb.WrongText{From: uint32(w.From), Sealed: w.Sealed, Path: slices32(w.Path)})
	}
	for i := range o.Opened {
		m.Opened = append(m.Opened, o.Opened[i][:])
	}
	return marshal(m)
}

// DecodeComplaint decodes a complaint. Package agree checks whether it opens anything.
func DecodeComplaint(b []byte) (o agree.Opening, err error) {
	var m wirepb.Complaint
	err = decode("complaint", b, &m, func() error {
		o.Key = m.GetKey()
		if o.Contribution, err = bytes32[[32]byte]("contribution", m.GetContribution()); err != nil {
			return err
		}
		if o.Blinder, err = bytes32[[32]byte]("blinder", m.GetBlinder()); err != nil {
			return err
		}
		return shown(&m, &o)
	})
	return o, err
}

// shown reads what a complaint reveals in a study whose texts travel apart.
func shown(m *wirepb.Complaint, o *agree.Opening) error {
	for _, w := range m.GetWrong() {
		if w.GetFrom() >= agree.MaxMembers {
			return fmt.Errorf("a text of member %d", w.GetFrom())
		}
		path, err := paths(w.GetPath())
		if err != nil {
			return err
		}
		o.Wrong = append(o.Wrong, agree.Wrong{From: int(w.GetFrom()), Text: agree.Text{Sealed: w.GetSealed(), Path: path}})
	}
	for _, b := range m.GetOpened() {
		if len(b) != len(agree.Opened{}) {
			return fmt.Errorf("an opened contribution of %d bytes, want %d", len(b), len(agree.Opened{}))
		}
		o.Opened = append(o.Opened, agree.Opened(b))
	}
	if len(o.Wrong) > 0 && len(o.Opened) > 0 {
		return errors.New("wrong texts beside opened ones")
	}
	return nil
}

// paths reads the hashes of a path; nil if there are none.
func paths(in [][]byte) ([][32]byte, error) {
	if len(in) == 0 {
		return nil, nil
	}
	return list32[[32]byte]("hash of a path", in)
}

// EncodeAccusations encodes the aggregator's statement that an attempt is over.
func EncodeAccusations(a protocol.Accusations) []byte {
	m := &wirepb.Accusations{At: int64(a.At)}
	for _, one := range a.Against {
		m.Against = append(m.Against, &wirepb.Accusation{
			Culprit: one.Culprit[:], Cause: string(one.Cause), Kind: string(one.Kind), Evidence: envelopesPB(one.Evidence),
		})
	}
	return marshal(m)
}

// DecodeAccusations decodes the statement and checks its form: known causes, kinds of the agreement
// or missing releases, the number of pieces of evidence that the cause needs, and culprits in
// ascending order. The state machines check whether the evidence proves anything.
func DecodeAccusations(b []byte) (a protocol.Accusations, err error) {
	var m wirepb.Accusations
	err = decode("fault", b, &m, func() error {
		a.At = protocol.Instant(m.GetAt())
		if len(m.GetAgainst()) == 0 {
			return errors.New("no accusation")
		}
		for i, one := range m.GetAgainst() {
			accusation, err := accusationFrom(one)
			if err != nil {
				return fmt.Errorf("accusation %d: %w", i, err)
			}
			if i > 0 && a.Against[i-1].Culprit.Compare(accusation.Culprit) >= 0 {
				return fmt.Errorf("accusation %d: culprits are not in ascending order", i)
			}
			a.Against = append(a.Against, accusation)
		}
		return nil
	})
	return a, err
}

func accusationFrom(m *wirepb.Accusation) (a protocol.Accusation, err error) {
	if a.Culprit, err = protocol.PeerIDFromKey(m.GetCulprit()); err != nil {
		return a, fmt.Errorf("culprit: %w", err)
	}
	evidence := map[protocol.Cause]int{protocol.CauseConflict: 2, protocol.CauseInvalid: 1, protocol.CauseDiffers: 1, protocol.CauseMissing: 0}
	want, known := evidence[protocol.Cause(m.GetCause())]
	if !known {
		return a, fmt.Errorf("unknown cause %.20q", m.GetCause())
	}
	if a.Cause, a.Kind = protocol.Cause(m.GetCause()), protocol.Kind(m.GetKind()); !a.Kind.Agreement() && (a.Kind != protocol.KindRelease && a.Kind != protocol.KindFirst || a.Cause != protocol.CauseMissing) {
		return a, fmt.Errorf("%s is no message of the agreement, nor a missing release or first round", a.Kind)
	}
	if len(m.GetEvidence()) != want {
		return a, fmt.Errorf("%d pieces of evidence for cause %s, want %d", len(m.GetEvidence()), a.Cause, want)
	}
	if want > 0 {
		a.Evidence, err = envelopes(m.GetEvidence())
	}
	return a, err
}

// EncodeAbandon encodes an abandonment, which carries nothing.
func EncodeAbandon() []byte { return marshal(&wirepb.Abandon{}) }

// DecodeAbandon checks an abandonment.
func DecodeAbandon(b []byte) error {
	return decode("abandon", b, &wirepb.Abandon{}, func() error { return nil })
}

// EncodeCertificate encodes an attempt's confirmations.
func EncodeCertificate(c protocol.Certificate) []byte {
	return marshal(&wirepb.Certificate{Confirms: envelopesPB(c.Confirms)})
}

// DecodeCertificate decodes an attempt's confirmations; it does not check signatures.
func DecodeCertificate(b []byte) (c protocol.Certificate, err error) {
	var m wirepb.Certificate
	err = decode("certificate", b, &m, func() error {
		c.Confirms, err = envelopes(m.GetConfirms())
		return err
	})
	return c, err
}

func envelopesPB(in []protocol.Envelope) (out []*wirepb.Envelope) {
	for _, e := range in {
		out = append(out, envelopePB(e))
	}
	return out
}
