package node

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Further results are kept beside a study's result, under the beginning of their
// document's hash: the signed statement, the document, and what parties alone may read, of
// each party at the aggregator and of itself at a party. The statement is written last: what
// is listed is whole.

const furtherPrefix = "further-"

// mostFurther bounds how many further results of one study a party is told of at once, and
// mostKept how many it keeps.
const (
	mostFurther = 256
	mostKept    = 4 * mostFurther
)

// furtherRoom is how many bytes a party keeps of a study's results and further results.
func furtherRoom(s *study.Study) int64 {
	own, further := analysis.BoundsOf(s), analysis.FurtherBounds(s)
	return 1<<30 + own.Document + 4*(own.Tables+further.Tables)
}

// ErrFullOfFurther reports more further results of a study than a party keeps.
var ErrFullOfFurther = errors.New("more further results of the study than a party keeps")

func furtherFile(document protocol.Digest) string {
	return furtherPrefix + document.String()[:16]
}

func furtherLabels(document protocol.Digest, party protocol.PeerID) string {
	return fmt.Sprintf("%s-%x", furtherFile(document), party[:])
}

// Publish signs an answer and keeps it for the study's parties to fetch, also while an
// aggregator serves. The same answer again changes nothing. It returns the statement.
func Publish(o AggregatorOptions, s *study.Study, answer Further) (protocol.Further, error) {
	signed, err := publish(o, s, answer)
	if err != nil {
		return signed, fmt.Errorf("publishing a further result of study %s: %w", s.ID.Short(), err)
	}
	return signed, nil
}

func publish(o AggregatorOptions, s *study.Study, answer Further) (protocol.Further, error) {
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return protocol.Further{}, err
	}
	f := protocol.Further{Study: s.ID, T2: answer.T2, At: o.Now(), Document: documentOf(answer.Raw)}
	name := furtherFile(f.Document.Hash)
	raw, err := o.Store.Result(s.ID, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return f, err
	}
	if err == nil {
		signed, err := protocol.DecodeFurther(s.ID, signer.ID(), raw)
		if err == nil {
			_, err = readFurther(o.Store, s, signed)
		}
		if err == nil {
			return signed, nil
		} // what is damaged is made anew
	}
	for i, l := range answer.Labels {
		index, known := s.PartyByName(l.Party)
		if !known {
			return f, fmt.Errorf("labels %d are of %q, which is no party", i, l.Party)
		}
		data, err := json.Marshal(l)
		if err != nil {
			return f, fmt.Errorf("encoding labels: %w", err)
		}
		party := s.Parties[index].ID
		if err := o.Store.PutResult(s.ID, furtherLabels(f.Document.Hash, party), data); err != nil {
			return f, err
		}
		f.PerParty = append(f.PerParty, protocol.PartyDocument{Party: party, Document: documentOf(data)})
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

// statements reads the further results that a node keeps of a study, the oldest first. One that cannot be
// read costs no other: damaged names each.
func statements(st documents, s *study.Study) (out []protocol.Further, damaged []error, err error) {
	names, err := st.Results(s.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, furtherPrefix) || len(name) != len(furtherPrefix)+16 {
			continue
		}
		raw, err := st.Result(s.ID, name)
		if err != nil {
			return nil, nil, err
		}
		f, err := protocol.DecodeFurther(s.ID, s.Aggregator.ID, raw)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("further result %s: %w", strings.TrimPrefix(name, furtherPrefix)[:8], err))
			continue
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b protocol.Further) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Document.Hash.String(), b.Document.Hash.String()))
	})
	return out, damaged, nil
}

// readFurther reads the document of a further result. ErrUnsigned where it is not the signed one.
func readFurther(st documents, s *study.Study, f protocol.Further) ([]byte, error) {
	raw, err := st.Result(s.ID, furtherFile(f.Document.Hash)+".json")
	if errors.Is(err, store.ErrNotFound) || err == nil && documentOf(raw) != f.Document {
		err = ErrUnsigned
	}
	if err != nil {
		return nil, fmt.Errorf("further result %s: %w", f.Document.Hash.String()[:8], err)
	}
	return raw, nil
}

// StoredFurther is a further result as this node keeps it, with its signature verified.
type StoredFurther struct {
	Statement protocol.Further
	Result    analysis.Result
	Raw       []byte
}

// FurtherResults returns the further results that this node keeps of a study, the oldest first. Those that
// cannot be read any more are left out, and damaged names them.
func FurtherResults(st State, s *study.Study) (out []StoredFurther, damaged []error, err error) {
	kept, damaged, err := statements(st, s)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range kept {
		raw, err := readFurther(st, s, f)
		if errors.Is(err, ErrUnsigned) {
			damaged = append(damaged, err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		r, err := analysis.Decode(raw, s.ID)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("further result %s: %w", f.Document.Hash.String()[:8], err))
			continue
		}
		out = append(out, StoredFurther{f, r.With(tables{st, s.ID}), raw})
	}
	return out, damaged, nil
}

// further answers the call for a study's further results: those statements, one after the
// other, each with its length.
func (a *Aggregator) further(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
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

func (h *hosted) listFurther() ([]byte, error) {
	all, _, err := statements(h.Store, h.study)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, f := range all[max(0, len(all)-mostFurther):] {
		raw := f.Encode()
		out = binary.BigEndian.AppendUint32(out, uint32(len(raw)))
		out = append(out, raw...)
	}
	return out, nil
}

// furtherName finds the file of a document of a further result that the caller may see.
func (h *hosted) furtherName(hash protocol.Digest, caller protocol.PeerID) (string, error) {
	all, _, err := statements(h.Store, h.study)
	if err != nil {
		return "", err
	}
	for _, f := range all {
		if f.Document.Hash == hash {
			return furtherFile(hash) + ".json", nil
		}
		for _, p := range f.PerParty {
			if p.Party == caller && p.Hash == hash {
				return furtherLabels(f.Document.Hash, caller), nil
			}
		}
	}
	return "", nil
}

// FetchFurther asks the aggregator for further results of a study, stores those that are
// not here yet, and returns how many those were.
func (p *Party) FetchFurther(ctx context.Context, id protocol.StudyID) (int, error) {
	r, err := p.open(id)
	if err != nil {
		return 0, fmt.Errorf("fetching further results of study %s: %w", id.Short(), err)
	}
	p.mu.Lock()
	p.aggregators[r.study.Aggregator.ID] = true
	p.mu.Unlock()
	n, err := r.fetchFurther(ctx)
	if err != nil {
		return n, fmt.Errorf("fetching further results of study %s: %w", id.Short(), err)
	}
	return n, nil
}

// fetchFurther fetches what is listed and not here, checks it against what the aggregator
// signed, and stores it.
func (r *service) fetchFurther(ctx context.Context) (fetched int, err error) {
	list, err := r.client.call(ctx, callFurther, r.study.ID[:])
	if err != nil {
		return 0, err
	}
	kept, _, err := statements(r.Store, r.study)
	if err != nil {
		return 0, err
	}
	var bad []error
	here := map[protocol.Digest]bool{}
	for _, f := range kept {
		_, err := readFurther(r.Store, r.study, f)
		if err != nil && !errors.Is(err, ErrUnsigned) { // what is damaged is fetched again
			return 0, err
		}
		here[f.Document.Hash] = err == nil
	}
	for len(list) > 0 {
		size := 0
		if len(list) >= 4 {
			size = int(binary.BigEndian.Uint32(list))
		}
		if len(list) < 4 || size > len(list)-4 || fetched+len(bad) >= mostFurther {
			return fetched, errors.New("the aggregator's list of further results is damaged")
		}
		f, err := protocol.DecodeFurther(r.study.ID, r.study.Aggregator.ID, list[4:4+size])
		if err != nil {
			return fetched, &FailedError{&protocol.Fault{Culprit: r.study.Aggregator.ID, Kind: "further result", Err: err}}
		}
		list = list[4+size:]
		if here[f.Document.Hash] {
			continue
		}
		if len(kept)+fetched >= mostKept {
			return fetched, fmt.Errorf("%w: there are %d", ErrFullOfFurther, mostKept)
		}
		var document *badDocument
		var reply *AnswerError
		err = r.takeFurther(ctx, f)
		switch {
		case err == nil:
			fetched++
		case errors.As(err, &document), errors.As(err, &reply): // the others may be whole
			bad = append(bad, fmt.Errorf("further result %s: %w", f.Document.Hash.String()[:8], err))
		default:
			return fetched, err
		}
	}
	return fetched, errors.Join(bad...)
}

func (r *service) takeFurther(ctx context.Context, f protocol.Further) error {
	left, err := r.roomLeft()
	if err != nil {
		return err
	}
	bounds := analysis.FurtherBounds(r.study)
	for _, d := range f.PerParty {
		if d.Party != r.signer.ID() {
			continue
		}
		rows, err := r.ownRows()
		if err != nil {
			return err
		}
		if left -= d.Size; left < 0 {
			return r.tooMuchFurther()
		}
		data, err := r.takeLabels(ctx, d.Document, analysis.FurtherLabelsOf(r.study, rows))
		if err != nil {
			return fmt.Errorf("the labels of the aggregator's further result: %w", err)
		}
		if err := r.Store.PutResult(r.study.ID, furtherLabels(f.Document.Hash, d.Party), data); err != nil {
			return err
		}
	}
	if left -= f.Document.Size; left < bounds.Tables {
		return r.tooMuchFurther()
	}
	data, err := r.client.document(ctx, f.Document, bounds.Document)
	if err != nil {
		return fmt.Errorf("the aggregator's further result: %w", err)
	}
	if _, err := r.takeTables(ctx, data, bounds); err != nil {
		return fmt.Errorf("the aggregator's further result: %w", err)
	}
	name := furtherFile(f.Document.Hash)
	if err := r.Store.PutResult(r.study.ID, name+".json", data); err != nil {
		return err
	}
	return r.Store.PutResult(r.study.ID, name, f.Encode())
}

func (r *service) tooMuchFurther() error {
	return fmt.Errorf("%w: together they would have more than %d bytes", ErrFullOfFurther, furtherRoom(r.study))
}

// roomLeft is what may still be kept of a study's further results.
func (r *service) roomLeft() (int64, error) {
	names, err := r.Store.Results(r.study.ID)
	if err != nil {
		return 0, err
	}
	left := furtherRoom(r.study)
	for _, name := range names {
		f, err := r.Store.OpenResult(r.study.ID, name)
		if err != nil {
			return 0, err
		}
		left -= f.Size()
		if err := f.Close(); err != nil {
			return 0, err
		}
	}
	return left, nil
}
