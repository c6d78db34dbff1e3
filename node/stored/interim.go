package stored

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// By is the study of a stored release; if it has two rounds, as set by the interim stored beside
// it.
func By(s *study.Study, files store.ReleaseDir) (*study.Study, error) {
	if !s.TwoRounds() {
		return s, nil
	}
	file, err := files.Open(filename.Interim)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errors.New("the stored release lacks the result of the first round on which it is based")
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(protocol.KindInterim.MaxPayload())))
	if err != nil {
		return nil, err
	}
	i, err := wire.DecodeInterim(data)
	if err == nil {
		err = release.CheckInterim(s, i.Basis)
	}
	if err != nil {
		return nil, fmt.Errorf("the result of the first round: %w", err)
	}
	return s.WithBasis(i.Basis), nil
}
