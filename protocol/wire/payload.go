package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
	"github.com/cosketch/cosketch/seed/agree"
)

// Payloads of envelopes, one pair of functions for each kind.

// EncodeApprove encodes an approval.
func EncodeApprove(a protocol.Approve) []byte { return marshal(&wirepb.Approve{Meaning: a.Meaning[:]}) }

// DecodeApprove decodes an approval.
func DecodeApprove(b []byte) (a protocol.Approve, err error) {
	var m wirepb.Approve
	err = decode("approve", b, &m, func() error {
		a.Meaning, err = bytes32[protocol.Digest]("meaning", m.GetMeaning())
		return err
	})
	return a, err
}

// EncodeRoster encodes a roster.
func EncodeRoster(r protocol.Roster) []byte {
	return marshal(&wirepb.Roster{Approvals: slices32(r.Approvals), Faults: slices32(r.Faults)})
}

// DecodeRoster decodes a roster.
func DecodeRoster(b []byte) (r protocol.Roster, err error) {
	var m wirepb.Roster
	err = decode("roster", b, &m, func() error {
		if r.Approvals, err = list32[protocol.Digest]("approval", m.GetApprovals()); err != nil {
			return err
		}
		r.Faults, err = list32[protocol.Digest]("fault", m.GetFaults())
		return err
	})
	return r, err
}

// EncodeCommit encodes a commit.
func EncodeCommit(c agree.Commit) []byte {
	return marshal(&wirepb.Commit{EphemeralKey: c.EphemeralKey, Commitment: c.Commitment[:]})
}

// DecodeCommit decodes a commit. Package agree checks its key.
func DecodeCommit(b []byte) (c agree.Commit, err error) {
	var m wirepb.Commit
	err = decode("commit", b, &m, func() error {
		c.EphemeralKey = m.GetEphemeralKey()
		c.Commitment, err = bytes32[[32]byte]("commitment", m.GetCommitment())
		return err
	})
	return c, err
}

// EncodeShare encodes a share, without its texts if they travel apart.
func EncodeShare(s agree.Share) []byte {
	if s.Root != ([32]byte{}) {
		return marshal(&wirepb.Share{T1: s.T1[:], Root: s.Root[:]})
	}
	return marshal(&wirepb.Share{Sealed: s.Sealed, T1: s.T1[:]})
}

// DecodeShare decodes a share. It does not check whether the share has the form that its study
// requires.
func DecodeShare(b []byte) (s agree.Share, err error) {
	var m wirepb.Share
	err = decode("share", b, &m, func() error {
		if s.T1, err = bytes32[[32]byte]("t1", m.GetT1()); err != nil {
			return err
		}
		if s.Sealed = m.GetSealed(); len(m.GetRoot()) == 0 {
			return nil
		}
		if len(s.Sealed) > 0 {
			return errors.New("a root beside the texts")
		}
		s.Root, err = bytes32[[32]byte]("root", m.GetRoot())
		return err
	})
	return s, err
}

// EncodeConfirm encodes a confirmation.
func EncodeConfirm(c protocol.Confirm) []byte {
	return marshal(&wirepb.Confirm{T1: c.T1[:], T2: c.T2[:], Tag: c.Tag[:], Count: c.Count, Chain: c.Chain[:], Published: slices32(c.Published)})
}

// DecodeConfirm decodes a confirmation.
func DecodeConfirm(b []byte) (c protocol.Confirm, err error) {
	var m wirepb.Confirm
	err = decode("confirm", b, &m, func() error {
		if c.T1, err = bytes32[[32]byte]("t1", m.GetT1()); err != nil {
			return err
		}
		if c.T2, err = bytes32[[32]byte]("t2", m.GetT2()); err != nil {
			return err
		}
		if c.Tag, err = bytes32[[32]byte]("tag", m.GetTag()); err != nil {
			return err
		}
		c.Count = m.GetCount()
		if c.Published, err = published(m.GetPublished()); err != nil {
			return err
		}
		c.Chain, err = bytes32[protocol.Digest]("chain", m.GetChain())
		return err
	})
	return c, err
}

// published reads public row keys, or their hashes; nil if there are none.
func published(in [][]byte) ([][32]byte, error) {
	if len(in) == 0 {
		return nil, nil
	}
	return list32[[32]byte]("public row key", in)
}

// EncodeRelease encodes a release header.
func EncodeRelease(r protocol.Release) []byte {
	return marshal(&wirepb.Release{T2: r.T2[:], Records: r.Records, Sketches: sketchesPB(r.Sketches), Published: slices32(r.Published)})
}

func sketchesPB(sketches []protocol.ReleasedSketch) (out []*wirepb.ReleasedSketch) {
	for _, s := range sketches {
		one := &wirepb.ReleasedSketch{
			Side: string(s.Side), Rows: s.Rows, Cols: s.Cols, Width: uint32(s.Width), Masked: uint32(s.Masked), Chunks: slices32(s.Chunks),
		}
		for _, c := range s.RowColumns {
			one.RowColumns = append(one.RowColumns, &wirepb.RowColumn{Name: c.Name, Width: uint32(c.Width)})
		}
		out = append(out, one)
	}
	return out
}

// DecodeRelease decodes a release header and checks that each sketch's shape, width and number of
// chunks agree. The state machines check that the shape is the study's.
func DecodeRelease(b []byte) (r protocol.Release, err error) {
	var m wirepb.Release
	err = decode("release", b, &m, func() error {
		if r.T2, err = bytes32[protocol.Digest]("t2", m.GetT2()); err != nil {
			return err
		}
		if r.Records = m.GetRecords(); r.Records < 1 {
			return fmt.Errorf("%d records", r.Records)
		}
		if r.Sketches, err = releasedSketches(m.GetSketches()); err != nil {
			return err
		}
		r.Published, err = published(m.GetPublished())
		return err
	})
	return r, err
}

// EncodeFirst encodes a first round.
func EncodeFirst(f protocol.First) []byte {
	return marshal(&wirepb.First{T2: f.T2[:], Records: f.Records, Sketches: sketchesPB(f.Sketches), Data: f.Data})
}

// DecodeFirst decodes a first round and checks that its data match its sketches. Package release
// checks their content.
func DecodeFirst(b []byte) (f protocol.First, err error) {
	var m wirepb.First
	err = decode("first", b, &m, func() error {
		if f.T2, err = bytes32[protocol.Digest]("t2", m.GetT2()); err != nil {
			return err
		}
		if f.Records = m.GetRecords(); f.Records < 1 {
			return fmt.Errorf("%d records", f.Records)
		}
		if f.Sketches, err = releasedSketches(m.GetSketches()); err != nil {
			return err
		}
		if len(m.GetData()) != len(f.Sketches) {
			return fmt.Errorf("data of %d sketches, want %d", len(m.GetData()), len(f.Sketches))
		}
		for i, data := range m.GetData() {
			s := f.Sketches[i]
			if s.Size() != int64(len(data)) || len(s.Chunks) != 1 || s.Chunks[0] != sha256.Sum256(data) {
				return fmt.Errorf("sketch %d: its data, of %d bytes, are not those that it describes", i+1, len(data))
			}
		}
		f.Data = m.GetData()
		return nil
	})
	return f, err
}

// EncodeInterim encodes an interim answer.
func EncodeInterim(i protocol.Interim) []byte {
	c := i.Codebook
	return marshal(&wirepb.Interim{
		T2: i.T2[:], Firsts: slices32(i.Firsts),
		Centre: numbers(c.Centre), Axes: numbers(c.Axes...), Codes: numbers(c.Codes...), Radius: c.Radius,
		Clips: numbers(i.Clips), Moves: sketch.EncodeStandards(i.Moves),
	})
}

// DecodeInterim decodes an interim answer. One with clips is for moments. Otherwise each axis must
// be as long as the centre, and each code must have as many numbers as there are axes. The state
// machines check that the study can use it.
func DecodeInterim(b []byte) (i protocol.Interim, err error) {
	var m wirepb.Interim
	err = decode("interim", b, &m, func() error {
		if i.T2, err = bytes32[protocol.Digest]("t2", m.GetT2()); err != nil {
			return err
		}
		if i.Firsts, err = list32[protocol.Digest]("first", m.GetFirsts()); err != nil {
			return err
		}
		if len(m.GetClips()) > 0 {
			return ofMoments(&m, &i.Basis)
		}
		if len(m.GetMoves()) > 0 {
			return errors.New("moves without a clip")
		}
		c := &i.Codebook
		c.Radius = m.GetRadius()
		centre, err := rowsOf("centre", m.GetCentre(), len(m.GetCentre())/numberSize)
		if err != nil {
			return err
		}
		c.Centre = centre[0]
		if c.Axes, err = rowsOf("axes", m.GetAxes(), len(c.Centre)); err != nil {
			return err
		}
		c.Codes, err = rowsOf("codes", m.GetCodes(), len(c.Axes))
		return err
	})
	return i, err
}

// ofMoments reads the basis of a second round of moments.
func ofMoments(m *wirepb.Interim, to *protocol.Basis) error {
	if len(m.GetCentre())+len(m.GetAxes())+len(m.GetCodes()) > 0 || m.GetRadius() != 0 {
		return errors.New("clips beside a codebook")
	}
	clips, err := rowsOf("clips", m.GetClips(), len(m.GetClips())/numberSize)
	if err != nil {
		return err
	}
	to.Clips = clips[0]
	to.Moves, err = sketch.DecodeStandards(m.GetMoves())
	if err != nil {
		return fmt.Errorf("moves: %w", err)
	}
	return nil
}

// numberSize is the size of a number of a codebook, or of a clip, in bytes.
const numberSize = 4

func numbers(rows ...[]int64) (out []byte) {
	for _, row := range rows {
		for _, v := range row {
			out = binary.BigEndian.AppendUint32(out, uint32(v))
		}
	}
	return out
}

// rowsOf reads numbers in rows of n.
func rowsOf(what string, b []byte, n int) (rows [][]int64, err error) {
	if n == 0 || len(b) == 0 || len(b)%(n*numberSize) != 0 {
		return nil, fmt.Errorf("%s of %d bytes, want at least one row of %d numbers, of %d bytes each", what, len(b), n, numberSize)
	}
	all := make([]int64, len(b)/numberSize)
	for i := range all {
		all[i] = int64(int32(binary.BigEndian.Uint32(b[i*numberSize:])))
	}
	return slices.Collect(slices.Chunk(all, n)), nil
}

func releasedSketches(ms []*wirepb.ReleasedSketch) (out []protocol.ReleasedSketch, err error) {
	for i, s := range ms {
		one, err := releasedSketch(s)
		if err != nil {
			return nil, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		out = append(out, one)
	}
	return out, nil
}

func releasedSketch(m *wirepb.ReleasedSketch) (s protocol.ReleasedSketch, err error) {
	s = protocol.ReleasedSketch{Side: sketch.Side(m.GetSide()), Rows: m.GetRows(), Cols: m.GetCols()}
	if !s.Side.Known() {
		return s, fmt.Errorf("unknown side %.20q", m.GetSide())
	}
	if m.GetWidth() < 1 || m.GetWidth() > 8 {
		return s, fmt.Errorf("entries of %d bytes, want 1 to 8", m.GetWidth())
	}
	s.Width = int(m.GetWidth())
	if m.GetMasked() == 1 || m.GetMasked() > agree.MaxMembers {
		return s, fmt.Errorf("masked by %d members, want none or 2 to %d", m.GetMasked(), agree.MaxMembers)
	}
	s.Masked = int(m.GetMasked())
	if s.Rows < 1 || s.Cols < 1 || s.Rows > math.MaxInt64/8/s.Cols {
		return s, fmt.Errorf("impossible shape %d × %d", s.Rows, s.Cols)
	}
	if err := rowColumns(&s, m.GetRowColumns()); err != nil {
		return s, err
	}
	if want := (s.Size()-1)/protocol.ChunkSize + 1; int64(len(m.GetChunks())) != want {
		return s, fmt.Errorf("%d chunks for %d bytes, want %d", len(m.GetChunks()), s.Size(), want)
	}
	s.Chunks, err = list32[protocol.Digest]("chunk hash", m.GetChunks())
	return s, err
}

// Limits on a row column, in bytes.
const (
	maxRowColumnWidth = 64
	maxRowColumnName  = 32
)

// rowColumns reads the row columns of a sketch whose shape is valid without them.
func rowColumns(s *protocol.ReleasedSketch, ms []*wirepb.RowColumn) error {
	left := math.MaxInt64/s.Rows - s.Cols*int64(s.Width)
	for _, m := range ms {
		if n := len(m.GetName()); n < 1 || n > maxRowColumnName {
			return fmt.Errorf("a row column has a name of %d bytes, want 1 to %d", n, maxRowColumnName)
		}
		if m.GetWidth() < 1 || m.GetWidth() > maxRowColumnWidth {
			return fmt.Errorf("row column %.32q of %d bytes, want 1 to %d", m.GetName(), m.GetWidth(), maxRowColumnWidth)
		}
		if left -= int64(m.GetWidth()); left < 0 {
			return fmt.Errorf("impossible shape %d × %d with row columns", s.Rows, s.Cols)
		}
		s.RowColumns = append(s.RowColumns, protocol.RowColumn{Name: m.GetName(), Width: int(m.GetWidth())})
	}
	return nil
}

// EncodeResult encodes a result statement.
func EncodeResult(r protocol.Result) []byte {
	m := &wirepb.Result{
		Count: r.Count, Chain: r.Chain[:], T2: r.T2[:], Releases: slices32(r.Releases),
		Document: documentPB(r.Document), Completed: r.Completed, FirstOnly: r.FirstOnly,
	}
	for _, p := range r.PerParty {
		m.PerParty = append(m.PerParty, &wirepb.PartyDocument{Party: p.Party[:], Document: documentPB(p.Document)})
	}
	return marshal(m)
}

func documentPB(d protocol.Document) *wirepb.Document {
	return &wirepb.Document{Hash: d.Hash[:], Size: d.Size}
}

func documentFrom(m *wirepb.Document) (d protocol.Document, err error) {
	if m == nil {
		return d, errors.New("document is missing")
	}
	if d.Hash, err = bytes32[protocol.Digest]("document hash", m.GetHash()); err != nil {
		return d, err
	}
	if d.Size = m.GetSize(); d.Size < 0 {
		return d, fmt.Errorf("document of %d bytes", d.Size)
	}
	return d, nil
}

// DecodeResult decodes a result statement.
func DecodeResult(b []byte) (r protocol.Result, err error) {
	var m wirepb.Result
	err = decode("result", b, &m, func() error {
		r.Count, r.Completed, r.FirstOnly = m.GetCount(), m.GetCompleted(), m.GetFirstOnly()
		if r.Chain, err = bytes32[protocol.Digest]("chain", m.GetChain()); err != nil {
			return err
		}
		if r.T2, err = bytes32[protocol.Digest]("t2", m.GetT2()); err != nil {
			return err
		}
		if r.Releases, err = list32[protocol.Digest]("release", m.GetReleases()); err != nil {
			return err
		}
		if r.Document, err = documentFrom(m.GetDocument()); err != nil {
			return err
		}
		for _, p := range m.GetPerParty() {
			party, err := protocol.PeerIDFromKey(p.GetParty())
			if err != nil {
				return fmt.Errorf("party of a document: %w", err)
			}
			d, err := documentFrom(p.GetDocument())
			if err != nil {
				return err
			}
			r.PerParty = append(r.PerParty, protocol.PartyDocument{Party: party, Document: d})
		}
		return nil
	})
	return r, err
}

// maxReason bounds a stop's reason, in bytes.
const maxReason = 1000

// EncodeStop encodes a stop. It cuts a reason that is too long, and replaces bytes in it that are
// not UTF-8: reasons quote errors, which can contain any bytes.
func EncodeStop(s protocol.Stop) []byte {
	reason := strings.ToValidUTF8(s.Reason, "?")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") // removes an incomplete character at the cut
	}
	return marshal(&wirepb.Stop{Reason: reason, At: int64(s.At), Missing: slices32(s.Missing)})
}

// DecodeStop decodes a stop.
func DecodeStop(b []byte) (s protocol.Stop, err error) {
	var m wirepb.Stop
	err = decode("stop", b, &m, func() error {
		if len(m.GetReason()) > maxReason {
			return fmt.Errorf("reason of %d bytes, at most %d", len(m.GetReason()), maxReason)
		}
		s.Reason, s.At = m.GetReason(), protocol.Instant(m.GetAt())
		for _, key := range m.GetMissing() {
			peer, err := protocol.PeerIDFromKey(key)
			if err != nil {
				return fmt.Errorf("missing peer: %w", err)
			}
			s.Missing = append(s.Missing, peer)
		}
		return nil
	})
	return s, err
}

// DecodeWithdraw checks a withdrawal, which carries nothing.
func DecodeWithdraw(b []byte) error {
	return decode("withdraw", b, &wirepb.Withdraw{}, func() error { return nil })
}

func decode(what string, b []byte, m proto.Message, check func() error) error {
	err := unmarshal(b, m)
	if err == nil {
		err = check()
	}
	if err != nil {
		return fmt.Errorf("decoding %s: %w", what, err)
	}
	return nil
}
