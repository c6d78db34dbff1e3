package wire_test

import (
	"bytes"
	"crypto/ed25519"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

var signerKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))

func signer(t testing.TB) protocol.Signer {
	t.Helper()
	s, err := protocol.NewSigner(signerKey)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A refusal is an encoding that its decoder must refuse.
type refusal struct {
	name    string
	decoder string
	bytes   []byte
	want    string
}

// fields returns n valid 32-byte fields.
func fields(n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = make([]byte, 32)
	}
	return out
}

func n(length int) []byte { return make([]byte, length) }

// onePoint is the identity, a small-order key. offCurve is not a point of the curve.
var (
	onePoint = append([]byte{1}, make([]byte, 31)...)
	offCurve = append([]byte{2}, make([]byte, 31)...)
)

func refusals() []refusal {
	var all []refusal
	add := func(name, decoder string, m proto.Message, want string) {
		b, err := proto.Marshal(m)
		if err != nil {
			panic(err)
		}
		all = append(all, refusal{name, decoder, b, want})
	}
	key := peer(1)

	// Envelopes, alone and in messages.
	envelope := func(change func(*wirepb.Envelope)) *wirepb.Envelope {
		e := &wirepb.Envelope{Study: n(32), Sender: key[:], Kind: "commit", Attempt: 1, Payload: n(3), Signature: n(64)}
		change(e)
		return e
	}
	head := func(change func(*wirepb.Head)) *wirepb.Head {
		h := &wirepb.Head{Count: 1, Chain: n(32), Signature: n(64)}
		change(h)
		return h
	}
	goodHead := head(func(*wirepb.Head) {})
	other := peer(2)
	for name, c := range map[string]struct {
		change func(*wirepb.LedgerHead)
		want   string
	}{
		"no party":               {func(h *wirepb.LedgerHead) { h.Party = nil }, "party: ed25519 key of 0 bytes"},
		"small aggregator":       {func(h *wirepb.LedgerHead) { h.Aggregator = onePoint }, "small-order"},
		"short hash":             {func(h *wirepb.LedgerHead) { h.Hash = n(31) }, "hash of 31 bytes"},
		"huge count":             {func(h *wirepb.LedgerHead) { h.Count = 1 << 63 }, "out of range"},
		"no signature":           {func(h *wirepb.LedgerHead) { h.Signature = nil }, "out of range"},
		"long signature":         {func(h *wirepb.LedgerHead) { h.Signature = n(65) }, "out of range"},
		"short countersignature": {func(h *wirepb.LedgerHead) { h.Countersignature = n(63) }, "out of range"},
	} {
		h := &wirepb.LedgerHead{Party: key[:], Aggregator: other[:], Count: 1, Hash: n(32), Signature: n(64), Countersignature: n(64)}
		c.change(h)
		add("ledger head, "+name, "DecodeLedgerHead", h, c.want)
	}
	for name, c := range map[string]struct {
		change func(*wirepb.IntroduceRequest)
		want   string
	}{
		"no invitation":     {func(i *wirepb.IntroduceRequest) { i.Invitation = nil }, "an invitation of 0 and 16 bytes, want 4 and 16"},
		"long invitation":   {func(i *wirepb.IntroduceRequest) { i.Invitation = n(5) }, "an invitation of 5 and 16 bytes"},
		"short secret":      {func(i *wirepb.IntroduceRequest) { i.Secret = n(15) }, "an invitation of 4 and 15 bytes"},
		"no introduction":   {func(i *wirepb.IntroduceRequest) { i.Introduction = nil }, "introduction of 0 bytes"},
		"huge introduction": {func(i *wirepb.IntroduceRequest) { i.Introduction = n(wire.MaxIntroduction + 1) }, "introduction of 261121 bytes, want 1 to 261120"},
	} {
		i := &wirepb.IntroduceRequest{Invitation: n(4), Secret: n(16), Introduction: n(1)}
		c.change(i)
		add("introduction, "+name, "DecodeIntroduce", i, c.want)
	}
	for name, c := range map[string]struct {
		change func(*wirepb.Envelope)
		want   string
	}{
		"no study":         {func(e *wirepb.Envelope) { e.Study = nil }, "study of 0 bytes"},
		"short study":      {func(e *wirepb.Envelope) { e.Study = n(31) }, "study of 31 bytes"},
		"long study":       {func(e *wirepb.Envelope) { e.Study = n(33) }, "study of 33 bytes"},
		"no sender":        {func(e *wirepb.Envelope) { e.Sender = nil }, "sender: ed25519 key of 0 bytes"},
		"long sender":      {func(e *wirepb.Envelope) { e.Sender = append(key[:], 0) }, "sender: ed25519 key of 33 bytes"},
		"small sender":     {func(e *wirepb.Envelope) { e.Sender = onePoint }, "small-order"},
		"sender off curve": {func(e *wirepb.Envelope) { e.Sender = offCurve }, "not a canonical ed25519 point"},
		"long kind":        {func(e *wirepb.Envelope) { e.Kind = strings.Repeat("k", 33) }, "kind of 33 bytes"},
		"no signature":     {func(e *wirepb.Envelope) { e.Signature = nil }, "signature of 0 bytes"},
		"short signature":  {func(e *wirepb.Envelope) { e.Signature = n(63) }, "signature of 63 bytes"},
		"long signature":   {func(e *wirepb.Envelope) { e.Signature = n(65) }, "signature of 65 bytes"},
		"long payload":     {func(e *wirepb.Envelope) { e.Payload = n(protocol.KindCommit.MaxPayload() + 1) }, "payload of 4097 bytes, at most 4096"},
	} {
		e := envelope(c.change)
		add(name, "DecodeEnvelope", e, c.want)
		add(name, "DecodePost", &wirepb.PostRequest{Envelopes: []*wirepb.Envelope{envelope(func(*wirepb.Envelope) {}), e}}, "envelope 1: ")
		add(name, "DecodeBoardReply", &wirepb.BoardReply{Envelopes: []*wirepb.Envelope{e}, Head: goodHead}, "envelope 0: ")
	}
	var many []*wirepb.Envelope
	for range wire.MaxEnvelopes + 1 {
		many = append(many, envelope(func(*wirepb.Envelope) {}))
	}
	add("too many envelopes", "DecodePost", &wirepb.PostRequest{Envelopes: many}, "field envelopes is there more than 256 times")
	add("too many envelopes", "DecodeBoardReply", &wirepb.BoardReply{Envelopes: many, Head: goodHead}, "field envelopes is there more than 256 times")
	add("no head", "DecodeBoardReply", &wirepb.BoardReply{}, "head signature of 0 bytes")
	for name, c := range map[string]struct {
		change func(*wirepb.Head)
		want   string
	}{
		"no signature":    {func(h *wirepb.Head) { h.Signature = nil }, "head signature of 0 bytes"},
		"short signature": {func(h *wirepb.Head) { h.Signature = n(63) }, "head signature of 63 bytes"},
		"long signature":  {func(h *wirepb.Head) { h.Signature = n(65) }, "head signature of 65 bytes"},
		"no chain":        {func(h *wirepb.Head) { h.Chain = nil }, "chain of 0 bytes"},
		"long chain":      {func(h *wirepb.Head) { h.Chain = n(33) }, "chain of 33 bytes"},
	} {
		add(name, "DecodeHead", head(c.change), c.want)
		add(name, "DecodeBoardReply", &wirepb.BoardReply{Head: head(c.change)}, c.want)
	}

	// Payloads.
	add("no meaning", "DecodeApprove", &wirepb.Approve{}, "meaning of 0 bytes")
	add("long meaning", "DecodeApprove", &wirepb.Approve{Meaning: n(64)}, "meaning of 64 bytes")
	add("too many approvals", "DecodeRoster", &wirepb.Roster{Approvals: fields(1001)}, "field approvals is there more than 1000 times")
	add("short approval", "DecodeRoster", &wirepb.Roster{Approvals: append(fields(2), n(31))}, "field approvals has 31 bytes, at least 32 are wanted")
	add("empty approval", "DecodeRoster", &wirepb.Roster{Approvals: append(fields(2), nil)}, "field approvals has 0 bytes, at least 32 are wanted")
	add("short commitment", "DecodeCommit", &wirepb.Commit{EphemeralKey: n(1216), Commitment: n(31)}, "commitment of 31 bytes")
	add("too many shares", "DecodeShare", &wirepb.Share{T1: n(32), Sealed: fields(64)}, "field sealed is there more than 63 times")
	add("no T1", "DecodeShare", &wirepb.Share{Sealed: fields(2)}, "t1 of 0 bytes")
	add("too many faults", "DecodeRoster", &wirepb.Roster{Approvals: fields(2), Faults: fields(1001)}, "field faults is there more than 1000 times")
	add("short fault", "DecodeRoster", &wirepb.Roster{Approvals: fields(2), Faults: append(fields(1), n(31))}, "field faults has 31 bytes, at least 32 are wanted")
	add("short contribution", "DecodeComplaint", &wirepb.Complaint{Key: n(32), Contribution: n(31), Blinder: n(32)}, "contribution of 31 bytes")
	add("no blinder", "DecodeComplaint", &wirepb.Complaint{Key: n(32), Contribution: n(32)}, "blinder of 0 bytes")
	add("no meaning", "DecodeJoin", &wirepb.Join{EphemeralKey: n(1216)}, "meaning of 0 bytes")
	add("no join", "DecodeWelcome", &wirepb.Welcome{Sealed: n(1168)}, "join of 0 bytes")
	accusation := func(cause, kind string, evidence int) *wirepb.Accusation {
		m := &wirepb.Accusation{Culprit: key[:], Cause: cause, Kind: kind}
		for range evidence {
			m.Evidence = append(m.Evidence, envelope(func(*wirepb.Envelope) {}))
		}
		return m
	}
	for name, c := range map[string]struct {
		against []*wirepb.Accusation
		want    string
	}{
		"no accusation":            {nil, "no accusation"},
		"too many accusations":     {make([]*wirepb.Accusation, 1001), "field against is there more than 1000 times"},
		"no culprit":               {[]*wirepb.Accusation{{Cause: "missing", Kind: "commit"}}, "culprit: "},
		"unknown cause":            {[]*wirepb.Accusation{accusation("malice", "commit", 0)}, "unknown cause"},
		"another kind":             {[]*wirepb.Accusation{accusation("missing", "roster", 0)}, "no message of the agreement"},
		"a release that is shown":  {[]*wirepb.Accusation{accusation("invalid", "release", 1)}, "no message of the agreement"},
		"a conflict with one":      {[]*wirepb.Accusation{accusation("conflict", "commit", 1)}, "1 pieces of evidence"},
		"an absence that is shown": {[]*wirepb.Accusation{accusation("missing", "commit", 1)}, "1 pieces of evidence"},
		"nothing that is invalid":  {[]*wirepb.Accusation{accusation("invalid", "commit", 0)}, "0 pieces of evidence"},
		"one culprit twice":        {[]*wirepb.Accusation{accusation("missing", "commit", 0), accusation("missing", "commit", 0)}, "ascending"},
	} {
		add(name, "DecodeAccusations", &wirepb.Accusations{Against: c.against}, c.want)
	}
	var confirms []*wirepb.Envelope
	for range 1001 {
		confirms = append(confirms, envelope(func(*wirepb.Envelope) {}))
	}
	add("too many confirmations", "DecodeCertificate", &wirepb.Certificate{Confirms: confirms}, "field confirms is there more than 1000 times")
	add("short T1", "DecodeConfirm", &wirepb.Confirm{T1: n(31), T2: n(32), Tag: n(32), Chain: n(32)}, "t1 of 31 bytes")
	add("no T2", "DecodeConfirm", &wirepb.Confirm{T1: n(32), Tag: n(32), Chain: n(32)}, "t2 of 0 bytes")
	add("long tag", "DecodeConfirm", &wirepb.Confirm{T1: n(32), T2: n(32), Tag: n(33), Chain: n(32)}, "tag of 33 bytes")
	add("no chain", "DecodeConfirm", &wirepb.Confirm{T1: n(32), T2: n(32), Tag: n(32)}, "chain of 0 bytes")

	result := func(change func(*wirepb.Result)) *wirepb.Result {
		m := &wirepb.Result{Chain: n(32), T2: n(32), Document: &wirepb.Document{Hash: n(32), Size: 1}}
		change(m)
		return m
	}
	for name, c := range map[string]struct {
		change func(*wirepb.Result)
		want   string
	}{
		"no chain":               {func(m *wirepb.Result) { m.Chain = nil }, "chain of 0 bytes"},
		"no T2":                  {func(m *wirepb.Result) { m.T2 = nil }, "t2 of 0 bytes"},
		"short release":          {func(m *wirepb.Result) { m.Releases = [][]byte{n(31)} }, "field releases has 31 bytes, at least 32 are wanted"},
		"too many releases":      {func(m *wirepb.Result) { m.Releases = fields(1001) }, "field releases is there more than 1000 times"},
		"too many documents":     {func(m *wirepb.Result) { m.PerParty = make([]*wirepb.PartyDocument, 1001) }, "field per_party is there more than 1000 times"},
		"no document":            {func(m *wirepb.Result) { m.Document = nil }, "document is missing"},
		"document without hash":  {func(m *wirepb.Result) { m.Document.Hash = nil }, "document hash of 0 bytes"},
		"negative document":      {func(m *wirepb.Result) { m.Document.Size = -1 }, "document of -1 bytes"},
		"party without document": {func(m *wirepb.Result) { m.PerParty = []*wirepb.PartyDocument{{Party: key[:]}} }, "document is missing"},
		"document for nobody": {func(m *wirepb.Result) {
			m.PerParty = []*wirepb.PartyDocument{{Document: m.Document}}
		}, "party of a document: ed25519 key of 0 bytes"},
		"document for a small key": {func(m *wirepb.Result) {
			m.PerParty = []*wirepb.PartyDocument{{Party: onePoint, Document: m.Document}}
		}, "small-order"},
	} {
		add(name, "DecodeResult", result(c.change), c.want)
	}
	add("long reason", "DecodeStop", &wirepb.Stop{Reason: strings.Repeat("x", 1001)}, "reason of 1001 bytes")
	add("missing nobody", "DecodeStop", &wirepb.Stop{Missing: [][]byte{nil}}, "missing peer: ed25519 key of 0 bytes")
	add("missing a small key", "DecodeStop", &wirepb.Stop{Missing: [][]byte{onePoint}}, "small-order")
	add("missing too many", "DecodeStop", &wirepb.Stop{Missing: fields(1001)}, "field missing is there more than 1000 times")
	all = append(all, refusal{"reason that is not UTF-8", "DecodeStop", []byte{0x0a, 0x01, 0xff}, "not a valid message"})

	// Requests and replies.
	add("no study", "DecodeRead", &wirepb.ReadRequest{}, "study of 0 bytes")
	add("no study", "DecodeProgressRequest", &wirepb.ProgressRequest{}, "study of 0 bytes")
	add("no study", "DecodeHelloRequest", &wirepb.HelloRequest{}, "study of 0 bytes")
	add("long name", "DecodeHelloRequest", &wirepb.HelloRequest{Study: make([]byte, 32), Name: strings.Repeat("x", 257)}, "name of 257 bytes, at most 256")
	add("short other", "DecodeHello", &wirepb.HelloReply{Other: []byte{1}}, "other study of 1 bytes")
	add("long version", "DecodeHello", &wirepb.HelloReply{Version: strings.Repeat("x", 129)}, "version of 129 bytes, at most 128")
	add("no study", "DecodeChunk", &wirepb.ChunkRequest{Data: n(1)}, "study of 0 bytes")
	add("sketch out of range", "DecodeChunk", &wirepb.ChunkRequest{Study: n(32), Sketch: 1<<30 + 1}, "out of range")
	add("chunk out of range", "DecodeChunk", &wirepb.ChunkRequest{Study: n(32), Index: math.MaxUint32}, "out of range")
	add("long chunk", "DecodeChunk", &wirepb.ChunkRequest{Study: n(32), Data: n(protocol.ChunkSize + 1)}, "out of range")
	add("progress out of range", "DecodeProgress", &wirepb.ProgressReply{Missing: []uint32{0, math.MaxUint32}}, "chunk 4294967296 is out of range")
	add("negative offset", "DecodeDocumentRequest", &wirepb.DocumentRequest{Study: n(32), Hash: n(32), Offset: -1}, "offset -1")
	add("no study", "DecodeDocumentRequest", &wirepb.DocumentRequest{Hash: n(32)}, "study of 0 bytes")
	add("no hash", "DecodeDocumentRequest", &wirepb.DocumentRequest{Study: n(32)}, "hash of 0 bytes")
	return append(all, releaseRefusals()...)
}

// releaseRefusals returns headers with inconsistent shapes.
func releaseRefusals() (all []refusal) {
	add := func(name string, m *wirepb.Release, want string) {
		b, err := proto.Marshal(m)
		if err != nil {
			panic(err)
		}
		all = append(all, refusal{name, "DecodeRelease", b, want})
	}
	add("no T2", &wirepb.Release{Records: 1}, "t2 of 0 bytes")
	add("no records", &wirepb.Release{T2: n(32)}, "0 records")
	one := func(s *wirepb.ReleasedSketch) *wirepb.Release {
		return &wirepb.Release{T2: n(32), Records: 1, Sketches: []*wirepb.ReleasedSketch{s}}
	}
	add("short chunk hash", one(&wirepb.ReleasedSketch{Chunks: [][]byte{n(31)}}), "field chunks has 31 bytes, at least 32 are wanted")
	add("nine row columns", one(&wirepb.ReleasedSketch{RowColumns: slices.Repeat([]*wirepb.RowColumn{{Name: "p", Width: 1}}, 9)}), "field row_columns is there more than 8 times")
	add("seventeen sketches", &wirepb.Release{Sketches: make([]*wirepb.ReleasedSketch, 17)}, "field sketches is there more than 16 times")
	add("negative records", &wirepb.Release{T2: n(32), Records: -5}, "-5 records")
	const huge = math.MaxInt64
	for name, c := range map[string]struct {
		side       string
		rows, cols int64
		width      uint32
		chunks     [][]byte
		want       string
	}{
		"no side":           {"", 1, 1, 1, fields(1), `unknown side ""`},
		"side in capitals":  {"Columns", 1, 1, 1, fields(1), `unknown side "Columns"`},
		"endless side":      {strings.Repeat("s", 5000), 1, 1, 1, fields(1), "unknown side"},
		"no width":          {"columns", 1, 1, 0, fields(1), "entries of 0 bytes"},
		"nine bytes":        {"columns", 1, 1, 9, fields(1), "entries of 9 bytes"},
		"huge width":        {"columns", 1, 1, math.MaxUint32, fields(1), "entries of 4294967295 bytes"},
		"no rows":           {"columns", 0, 1, 1, nil, "impossible shape 0 × 1"},
		"no columns":        {"columns", 1, 0, 1, nil, "impossible shape 1 × 0"},
		"negative rows":     {"columns", -1, 1, 1, nil, "impossible shape"},
		"both negative":     {"columns", -1, -1, 1, fields(1), "impossible shape"},
		"least rows":        {"columns", math.MinInt64, -1, 1, fields(1), "impossible shape"},
		"product overflows": {"columns", 1 << 32, 1 << 32, 1, nil, "impossible shape"},
		"wraps to one":      {"columns", huge, huge, 1, fields(1), "impossible shape"},
		"bytes overflow":    {"columns", huge / 8, 2, 8, nil, "impossible shape"},
		"largest shape":     {"columns", huge / 8, 1, 8, nil, "0 chunks for 9223372036854775800 bytes, want 2199023255552"},
		"chunk missing":     {"records", protocol.ChunkSize, 1, 2, fields(1), "1 chunks for 8388608 bytes, want 2"},
		"chunk too many":    {"records", protocol.ChunkSize, 1, 1, fields(2), "2 chunks for 4194304 bytes, want 1"},
		"a byte more":       {"records", protocol.ChunkSize + 1, 1, 1, fields(1), "1 chunks for 4194305 bytes, want 2"},
		"no chunks":         {"records", 1, 1, 1, nil, "0 chunks for 1 bytes, want 1"},
		"long chunk hash":   {"records", 1, 1, 1, [][]byte{n(33)}, "chunk hash of 33 bytes"},
	} {
		good := &wirepb.ReleasedSketch{Side: "columns", Rows: 1, Cols: 1, Width: 1, Chunks: fields(1)}
		bad := &wirepb.ReleasedSketch{Side: c.side, Rows: c.rows, Cols: c.cols, Width: c.width, Chunks: c.chunks}
		add(name, &wirepb.Release{T2: n(32), Records: 1, Sketches: []*wirepb.ReleasedSketch{good, bad}}, "sketch 2: "+c.want)
	}
	for name, c := range map[string]struct {
		rows    int64
		columns []*wirepb.RowColumn
		want    string
	}{
		"row column of no bytes":  {1, []*wirepb.RowColumn{{Name: "p"}}, `row column "p" of 0 bytes, want 1 to 64`},
		"wide row column":         {1, []*wirepb.RowColumn{{Name: "p", Width: 65}}, `row column "p" of 65 bytes`},
		"row column without name": {1, []*wirepb.RowColumn{{Width: 1}}, "a row column has a name of 0 bytes, want 1 to 32"},
		"row column of long name": {1, []*wirepb.RowColumn{{Name: strings.Repeat("n", 33), Width: 1}}, "a row column has a name of 33 bytes"},
		"row columns overflow":    {huge / 16, []*wirepb.RowColumn{{Name: "p", Width: 8}, {Name: "q", Width: 8}}, "impossible shape"},
		"row columns count":       {protocol.ChunkSize / 2, []*wirepb.RowColumn{{Name: "p", Width: 2}}, "1 chunks for 6291456 bytes, want 2"},
	} {
		bad := &wirepb.ReleasedSketch{Side: "records", Rows: c.rows, Cols: 1, Width: 1, Chunks: fields(1), RowColumns: c.columns}
		add(name, &wirepb.Release{T2: n(32), Records: 1, Sketches: []*wirepb.ReleasedSketch{bad}}, "sketch 1: "+c.want)
	}
	return all
}

func TestDecodersRefuse(t *testing.T) {
	for _, r := range refusals() {
		_, err := formNamed(r.decoder).recode(r.bytes)
		if err == nil {
			t.Errorf("%s: %s: accepted", r.decoder, r.name)
			continue
		}
		if !strings.HasPrefix(err.Error(), "decoding ") || !strings.Contains(err.Error(), r.want) || len(err.Error()) > 200 {
			t.Errorf("%s: %s: %.300v, want %q", r.decoder, r.name, err, r.want)
		}
	}
}

func TestLargestAccepted(t *testing.T) {
	envelopes := make([]protocol.Envelope, wire.MaxEnvelopes)
	for i := range envelopes {
		envelopes[i] = protocoltest.Sealed(signer(t).Seal(aStudy, protocol.KindCommit, 1, n(10))).Envelope()
	}
	for decoder, b := range map[string][]byte{
		"DecodePost":          wire.EncodePost(envelopes),
		"DecodeEnvelope":      wire.EncodeEnvelope(protocoltest.Sealed(signer(t).Seal(aStudy, protocol.KindRelease, 1, n(protocol.MaxPayload))).Envelope()),
		"DecodeChunk":         wire.EncodeChunk(wire.Chunk{Sketch: 1 << 30, Index: 1 << 30, Data: n(protocol.ChunkSize)}),
		"DecodeRoster":        wire.EncodeRoster(protocol.Roster{Approvals: make([]protocol.Digest, 64)}),
		"DecodeStop":          wire.EncodeStop(protocol.Stop{Reason: strings.Repeat("é", 500)}),
		"DecodeDocumentReply": wire.EncodeDocumentReply(n(wire.MaxMessage - 5)),
	} {
		if again, err := formNamed(decoder).recode(b); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: %d bytes came back as %d, %v", decoder, len(b), len(again), err)
		}
	}
}

func TestOversizeIsRefused(t *testing.T) {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, n(wire.MaxMessage))
	for _, f := range forms() {
		if _, err := f.recode(b); err == nil || !strings.Contains(err.Error(), "at most 8388608") {
			t.Errorf("%s: %v", f.decoder, err)
		}
	}
}

// nest adds an unknown field to every message inside an encoding, one at a time, and to the
// encoding itself.
func nest(b []byte, message func(path string) bool, path string, yield func(path string, b []byte)) {
	for _, unknown := range [][]byte{
		protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1),
		protowire.AppendBytes(protowire.AppendTag(nil, 19, protowire.BytesType), []byte("new")),
	} {
		yield(path, append(bytes.Clone(b), unknown...))
	}
	for done := 0; done < len(b); {
		number, kind, n := protowire.ConsumeField(b[done:])
		inner := path + "." + string('0'+rune(number))
		if kind == protowire.BytesType && message(inner) {
			_, _, tag := protowire.ConsumeTag(b[done:])
			value, _ := protowire.ConsumeBytes(b[done+tag:])
			before, after := b[:done+tag], b[done+n:]
			nest(value, message, inner, func(path string, changed []byte) {
				out := protowire.AppendBytes(bytes.Clone(before), changed)
				yield(path, append(out, after...))
			})
		}
		done += n
	}
}

// Fields from a newer version are refused at any depth: a node must not sign, store or answer what
// it does not understand.
func TestUnknownFieldsAreRefused(t *testing.T) {
	messages := map[string][]string{ // fields that hold messages, by number
		"DecodeRelease": {".3"}, "DecodeFirst": {".3"}, "DecodeResult": {".5", ".6", ".6.2"}, "DecodePost": {".1"}, "DecodeBoardReply": {".2", ".3"},
	}
	for _, f := range forms() {
		met := map[string]bool{}
		nest(f.sample, func(path string) bool {
			for _, m := range messages[f.decoder] {
				if m == path {
					return true
				}
			}
			return false
		}, "", func(path string, b []byte) {
			met[path] = true
			if _, err := f.recode(b); err == nil || !strings.Contains(err.Error(), "unknown field") {
				t.Errorf("%s: unknown field in message %q: %v", f.decoder, path, err)
			}
		})
		if want := 1 + len(messages[f.decoder]); len(met) != want {
			t.Errorf("%s: tried %d messages, it has %d", f.decoder, len(met), want)
		}
	}
}

// A field with another type than its own counts as unknown.
func TestWrongTypesAreRefused(t *testing.T) {
	wrong := protowire.AppendFixed32(protowire.AppendTag(nil, 1, protowire.Fixed32Type), 7)
	for _, f := range forms() {
		if _, err := f.recode(append(bytes.Clone(f.sample), wrong...)); err == nil || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%s: %v", f.decoder, err)
		}
	}
}

// A message cut anywhere inside a field is refused.
func TestTruncatedMessagesAreRefused(t *testing.T) {
	for _, f := range forms() {
		whole := map[int]bool{}
		at := 0
		whole[0] = true
		for _, field := range split(t, f.sample) {
			at += len(field)
			whole[at] = true
		}
		for cut := range len(f.sample) {
			if _, err := f.recode(f.sample[:cut]); err == nil && !whole[cut] {
				t.Errorf("%s: accepted the first %d of %d bytes", f.decoder, cut, len(f.sample))
			}
		}
	}
}
