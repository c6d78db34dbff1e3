package aggregator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Publish signs an answer and stores it for the study's parties to fetch; an aggregator may serve
// at the same time. It is idempotent. It returns the statement.
func Publish(o Options, s *study.Study, answer Further) (protocol.Further, error) {
	signed, err := publish(o, s, answer)
	if err != nil {
		return signed, fmt.Errorf("publishing a further result of study %s: %w", s.ID.Short(), err)
	}
	return signed, nil
}

func publish(o Options, s *study.Study, answer Further) (protocol.Further, error) {
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return protocol.Further{}, err
	}
	f := protocol.Further{Study: s.ID, T2: answer.T2, At: o.Now(), Document: stored.DocumentOf(answer.Raw)}
	name := filename.Further(f.Document.Hash)
	raw, err := o.Store.Result(s.ID, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return f, err
	}
	if err == nil {
		signed, err := protocol.DecodeFurther(s.ID, signer.ID(), raw)
		if err == nil {
			_, err = stored.ReadFurther(o.Store, s, signed)
		}
		if err == nil {
			return signed, nil
		} // a damaged document is written anew
	}
	for i, l := range answer.Labels {
		index, known := s.PartyByName(l.Party)
		if !known {
			return f, fmt.Errorf("labels %d are of %q, which is no party", i, l.Party)
		}
		party := s.Parties[index].ID
		d, err := putLabels(o.Store, s.ID, filename.FurtherLabels(f.Document.Hash, party), l, "")
		if err != nil {
			return f, err
		}
		f.PerParty = append(f.PerParty, protocol.PartyDocument{Party: party, Document: d})
	}
	if err := answer.putTables(o.Store, s.ID); err != nil {
		return f, err
	}
	if err := o.Store.PutResult(s.ID, name+".json", answer.Raw); err != nil {
		return f, err
	}
	f = signer.SignFurther(f)
	return f, o.Store.PutResult(s.ID, name, f.Encode())
}

// further answers the call for a study's further results: their statements one after the other,
// each with its length.
func (a *server) further(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	var id protocol.StudyID
	if len(request) != len(id) {
		return nil, p2p.Refuse(p2p.CodeInvalid, "a study's id has %d bytes, this one %d", len(id), len(request))
	}
	copy(id[:], request)
	h, err := a.find(ctx, id, from)
	if err != nil {
		return nil, err
	}
	return h.listFurther()
}

// putTables stores the tables of an answer.
func (f Further) putTables(st node.State, id protocol.StudyID) error {
	parts, err := f.Result.Parts()
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := f.putTable(st, id, part); err != nil {
			return err
		}
	}
	return nil
}

func (f Further) putTable(st node.State, id protocol.StudyID, part protocol.Document) error {
	from, err := f.tables.OpenPart(part.Hash)
	if err != nil {
		return fmt.Errorf("reading a table of the answer: %w", err)
	}
	defer from.Close()
	to, err := st.NewResult(id)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, io.NewSectionReader(from, 0, part.Size)); err != nil {
		to.Discard()
		return err
	}
	return to.Keep(filename.Table(part.Hash))
}
