package wire

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

// Payloads of the kinds for late parties.

// EncodeJoin encodes a late party's request for the seed.
func EncodeJoin(j protocol.Join) []byte {
	return marshal(&wirepb.Join{Meaning: j.Meaning[:], EphemeralKey: j.EphemeralKey})
}

// DecodeJoin decodes the request. Package agree checks its key.
func DecodeJoin(b []byte) (j protocol.Join, err error) {
	var m wirepb.Join
	err = decode("join", b, &m, func() error {
		j.EphemeralKey = m.GetEphemeralKey()
		j.Meaning, err = bytes32[protocol.Digest]("meaning", m.GetMeaning())
		return err
	})
	return j, err
}

// EncodeWelcome encodes the answer to a join.
func EncodeWelcome(w protocol.Welcome) []byte {
	return marshal(&wirepb.Welcome{Join: w.Join[:], Sealed: w.Sealed})
}

// DecodeWelcome decodes the answer. Package agree checks whether it opens.
func DecodeWelcome(b []byte) (w protocol.Welcome, err error) {
	var m wirepb.Welcome
	err = decode("welcome", b, &m, func() error {
		w.Sealed = m.GetSealed()
		w.Join, err = bytes32[protocol.Digest]("join", m.GetJoin())
		return err
	})
	return w, err
}

// EncodeClose encodes the end of a study that took late parties.
func EncodeClose(c protocol.Close) []byte { return marshal(&wirepb.Close{At: int64(c.At)}) }

// DecodeClose decodes the end of a study.
func DecodeClose(b []byte) (c protocol.Close, err error) {
	var m wirepb.Close
	err = decode("close", b, &m, func() error {
		c.At = protocol.Instant(m.GetAt())
		return nil
	})
	return c, err
}
