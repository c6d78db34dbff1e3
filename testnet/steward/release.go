package steward

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/testnet/network"
)

// Release is a party's release and result, as stored in its state directory.
type Release struct {
	analysis.Contribution
	T2     protocol.Digest
	Result []byte
	Plans  []release.Plan // by sketch
	Study  *study.Study   // of two rounds: the study of the second, which depends on the result of the first
}

// ReadRelease reads a party's release and result of a study.
func ReadRelease(n *network.Node, s *study.Study) (Release, error) {
	st, err := store.Open(n.StateDir(), store.Party, store.Options{ReadOnly: true})
	if err != nil {
		return Release{}, err
	}
	defer st.Close()
	raw, err := st.ReleaseHeader(s.ID)
	if err != nil {
		return Release{}, err
	}
	envelope, err := wire.DecodeEnvelope(raw)
	if err != nil {
		return Release{}, err
	}
	verified, err := protocol.Verify(envelope)
	if err != nil {
		return Release{}, err
	}
	header, err := wire.DecodeRelease(verified.Payload())
	if err != nil {
		return Release{}, err
	}
	index, ok := s.PartyIndex(verified.Sender())
	if !ok {
		return Release{}, errors.New("its sender is not in the study")
	}
	if s, err = stored.By(s, st.Release(s.ID)); err != nil {
		return Release{}, err
	}
	out := Release{Study: s, Contribution: analysis.Contribution{Party: index, Header: verified.ID(), Records: header.Records, Published: header.Published}, T2: header.T2}
	for i, described := range header.Sketches {
		file, err := st.OpenReleaseFile(s.ID, fmt.Sprintf("sketch-%d.bin", i))
		if err != nil {
			return Release{}, err
		}
		decoded, err := release.Decode(described, io.NewSectionReader(file, 0, file.Size()))
		file.Close()
		if err != nil {
			return Release{}, err
		}
		plan, err := release.For(s, index, i)
		if err != nil {
			return Release{}, err
		}
		values, labels, err := plan.Unpack(decoded)
		if err != nil {
			return Release{}, err
		}
		out.Sketches, out.Labels, out.Plans = append(out.Sketches, values), append(out.Labels, labels), append(out.Plans, plan)
		out.Bytes += described.Size()
	}
	_, out.Result, err = stored.Result(st, s.ID)
	return out, err
}
