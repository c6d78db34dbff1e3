package protocol_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
	"github.com/cosketch/cosketch/seed/transcript"
)

// identitySeed returns the private key of a name, as protocoltest.Identity does.
func identitySeed(name string) hexed {
	s := sha256.Sum256([]byte("identity of " + name))
	return s[:]
}

func signerOf(t *testing.T, seed hexed) protocol.Signer {
	t.Helper()
	s, err := protocol.NewSigner(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type identityCase struct {
	Note     string `json:"note"`
	Text     string `json:"text"`
	Accepted bool   `json:"accepted"`
	Key      hexed  `json:"key"` // of an accepted text
}

func identities() vectors {
	return cases[identityCase]{
		file:  "identities",
		about: "Given: text. To be found: whether it is a peer id, and the raw Ed25519 public key in it.",
		given: func(*testing.T) []identityCase {
			key := protocoltest.Identity("party 0").ID()
			good, cid := key.String(), append([]byte{1, 0x72, 0x00, 0x24, 0x08, 0x01, 0x12, 0x20}, key[:]...)
			return []identityCase{
				{Note: "canonical", Text: good},
				{Note: "canonical", Text: protocoltest.Identity("aggregator").ID().String()},
				{Note: "a character less", Text: good[:51]},
				{Note: "not base58", Text: good[:51] + "0"},
				{Note: "CIDv1 of the same key", Text: "b" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(cid))},
				{Note: "RSA", Text: "QmcgpsyWgH8Y8ajJz1Cu72KnS5uo2Aa2LpzU7kinSupNKC"},
				{Note: "the identity point, of small order", Text: protocol.PeerID{1}.String()},
				{Note: "not on the curve", Text: protocol.PeerID{2}.String()},
			}
		},
		fill: func(_ *testing.T, c *identityCase) {
			id, err := protocol.ParsePeerID(c.Text)
			if c.Accepted, c.Key = err == nil, nil; err == nil {
				c.Key = id[:]
			}
		},
	}
}

type transcriptCase struct {
	Label  string  `json:"label"`
	Fields []hexed `json:"fields"`
	Joined hexed   `json:"joined"`
	Hash   hexed   `json:"hash"`
}

func transcripts() vectors {
	return cases[transcriptCase]{
		file:  "transcripts",
		about: "Given: label and fields. To be found: their join, and the labelled hash, its SHA-256.",
		given: func(*testing.T) []transcriptCase {
			return []transcriptCase{
				{Label: "board chain", Fields: []hexed{make(hexed, 32), bytes.Repeat(hexed{1}, 32)}},
				{Label: "envelope id", Fields: []hexed{hexed("preimage")}},
				{Label: "no fields", Fields: []hexed{}},
				{Label: "an empty field", Fields: []hexed{{}, hexed("x")}},
			}
		},
		fill: func(_ *testing.T, c *transcriptCase) {
			var fields [][]byte
			for _, f := range c.Fields {
				fields = append(fields, f)
			}
			c.Joined, c.Hash = transcript.Join(c.Label, fields...), hexedOf(transcript.Hash(c.Label, fields...))
		},
	}
}

// envelopeCase holds an envelope as it is carried. The fields of an accepted one are listed.
type envelopeCase struct {
	Note     string `json:"note"`
	Encoded  hexed  `json:"encoded"`
	Signer   hexed  `json:"signer,omitempty"` // the sender's private key, to reproduce the signature
	Decoded  bool   `json:"decoded"`          // by package wire
	Verified bool   `json:"verified"`         // kind, attempt, sender and signature
	Read     bool   `json:"read"`             // the payload
	Study    hexed  `json:"study,omitempty"`
	Sender   hexed  `json:"sender,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Attempt  uint32 `json:"attempt,omitempty"`
	Payload  hexed  `json:"payload,omitempty"`
	Preimage hexed  `json:"preimage,omitempty"`
	ID       hexed  `json:"id,omitempty"`
}

// readPayload decodes the payload of an envelope of a kind.
func readPayload(kind protocol.Kind, b []byte) error {
	var err error
	switch kind {
	case protocol.KindApprove:
		_, err = wire.DecodeApprove(b)
	case protocol.KindWithdraw:
		err = wire.DecodeWithdraw(b)
	case protocol.KindRoster:
		_, err = wire.DecodeRoster(b)
	case protocol.KindCommit:
		_, err = wire.DecodeCommit(b)
	case protocol.KindShare:
		_, err = wire.DecodeShare(b)
	case protocol.KindConfirm, protocol.KindJoined:
		_, err = wire.DecodeConfirm(b)
	case protocol.KindRelease:
		_, err = wire.DecodeRelease(b)
	case protocol.KindResult:
		_, err = wire.DecodeResult(b)
	case protocol.KindComplaint:
		_, err = wire.DecodeComplaint(b)
	case protocol.KindFault:
		_, err = wire.DecodeAccusations(b)
	case protocol.KindAbandon:
		err = wire.DecodeAbandon(b)
	case protocol.KindCertificate:
		_, err = wire.DecodeCertificate(b)
	case protocol.KindJoin:
		_, err = wire.DecodeJoin(b)
	case protocol.KindWelcome:
		_, err = wire.DecodeWelcome(b)
	case protocol.KindStop:
		_, err = wire.DecodeStop(b)
	case protocol.KindClose:
		_, err = wire.DecodeClose(b)
	default:
		panic("no vector of kind " + kind)
	}
	return err
}

func digest(b byte) (d protocol.Digest) {
	copy(d[:], bytes.Repeat([]byte{b}, len(d)))
	return d
}

// payloads returns one of each kind. Values have the right form and no meaning.
func payloads(study protocol.StudyID, sender protocol.Signer) map[protocol.Kind][]byte {
	t1, t2 := digest(0x11), digest(0x12)
	confirm := protocol.Confirm{Confirm: agree.Confirm{T1: t1, T2: t2, Tag: digest(0x13)}, Count: 7, Chain: digest(0x14)}
	evidence := func(payload string) protocol.Envelope {
		return protocoltest.Sealed(sender.Seal(study, protocol.KindCommit, 1, []byte(payload))).Envelope()
	}
	return map[protocol.Kind][]byte{
		protocol.KindApprove:  wire.EncodeApprove(protocol.Approve{Meaning: digest(1)}),
		protocol.KindWithdraw: {},
		protocol.KindRoster:   wire.EncodeRoster(protocol.Roster{Approvals: []protocol.Digest{digest(2), digest(3)}, Faults: []protocol.Digest{digest(4)}}),
		protocol.KindCommit:   wire.EncodeCommit(agree.Commit{EphemeralKey: bytes.Repeat([]byte{5}, 1216), Commitment: digest(6)}),
		protocol.KindShare:    wire.EncodeShare(agree.Share{T1: t1, Sealed: [][]byte{bytes.Repeat([]byte{7}, agree.SealedSize)}}),
		protocol.KindConfirm:  wire.EncodeConfirm(confirm),
		protocol.KindRelease: wire.EncodeRelease(protocol.Release{T2: t2, Records: 10, Sketches: []protocol.ReleasedSketch{
			{Side: "columns", Rows: 16, Cols: 3, Width: 2, Chunks: []protocol.Digest{digest(8)}},
			{Side: "records", Rows: 10, Cols: 2, Width: 1, Chunks: []protocol.Digest{digest(9)}},
		}}),
		protocol.KindResult: wire.EncodeResult(protocol.Result{
			Count: 16, Chain: digest(10), T2: t2, Releases: []protocol.Digest{digest(11)}, Document: protocol.Document{Hash: digest(12), Size: 99},
			PerParty: []protocol.PartyDocument{{Party: sender.ID(), Document: protocol.Document{Hash: digest(13), Size: 5}}}, Completed: true,
		}),
		protocol.KindComplaint: wire.EncodeComplaint(agree.Opening{Key: bytes.Repeat([]byte{14}, 32), Contribution: digest(15), Blinder: digest(16)}),
		protocol.KindFault: wire.EncodeAccusations(protocol.Accusations{At: 1_767_225_600, Against: []protocol.Accusation{
			{Culprit: sender.ID(), Cause: protocol.CauseConflict, Kind: protocol.KindCommit, Evidence: []protocol.Envelope{evidence("one"), evidence("two")}},
		}}),
		protocol.KindAbandon:     wire.EncodeAbandon(),
		protocol.KindCertificate: wire.EncodeCertificate(protocol.Certificate{Confirms: []protocol.Envelope{protocoltest.Sealed(sender.Seal(study, protocol.KindConfirm, 1, wire.EncodeConfirm(confirm))).Envelope()}}),
		protocol.KindJoin:        wire.EncodeJoin(protocol.Join{Meaning: digest(1), EphemeralKey: bytes.Repeat([]byte{17}, 1216)}),
		protocol.KindWelcome:     wire.EncodeWelcome(protocol.Welcome{Join: digest(18), Sealed: bytes.Repeat([]byte{19}, agree.WelcomeSize)}),
		protocol.KindJoined:      wire.EncodeConfirm(confirm),
		protocol.KindStop:        wire.EncodeStop(protocol.Stop{Reason: "too few parties approved", At: 1_767_225_600, Missing: []protocol.PeerID{sender.ID()}}),
		protocol.KindClose:       wire.EncodeClose(protocol.Close{At: 1_767_225_600}),
	}
}

// everyKind lists the kinds that have a payload in payloads.
var everyKind = []protocol.Kind{
	protocol.KindApprove, protocol.KindWithdraw, protocol.KindRoster, protocol.KindCommit, protocol.KindShare, protocol.KindConfirm,
	protocol.KindRelease, protocol.KindResult, protocol.KindComplaint, protocol.KindFault, protocol.KindAbandon, protocol.KindCertificate,
	protocol.KindJoin, protocol.KindWelcome, protocol.KindJoined, protocol.KindStop, protocol.KindClose,
}

func envelopes() vectors {
	return cases[envelopeCase]{
		file: "envelopes",
		about: "Given: an encoded envelope. To be found: whether it decodes, verifies, and its payload can be read; what is in it; its id. " +
			"Where signer is given, the Ed25519 private key (seed), the signature can be made again.",
		given: givenEnvelopes,
		fill: func(t *testing.T, c *envelopeCase) {
			*c = envelopeCase{Note: c.Note, Encoded: c.Encoded, Signer: c.Signer}
			e, err := wire.DecodeEnvelope(c.Encoded)
			if c.Decoded = err == nil; err != nil {
				return
			}
			v, err := protocol.Verify(e)
			if c.Verified = err == nil; err != nil {
				return
			}
			c.Read = readPayload(v.Kind(), v.Payload()) == nil
			c.Study, c.Sender, c.Kind, c.Attempt, c.Payload = hexedOf(e.Study), hexedOf(e.Sender), string(e.Kind), e.Attempt, e.Payload
			c.Preimage, c.ID = e.Preimage(), hexedOf(v.ID())
			if again := protocoltest.Sealed(signerOf(t, c.Signer).Seal(e.Study, e.Kind, e.Attempt, e.Payload)); !bytes.Equal(again.Envelope().Signature, e.Signature) {
				t.Errorf("%s: another signature", c.Note)
			}
		},
	}
}

func givenEnvelopes(t *testing.T) (out []envelopeCase) {
	study := protocol.StudyID(sha256.Sum256([]byte("a study file")))
	party, aggregator := identitySeed("party 0"), identitySeed("aggregator")
	all := payloads(study, signerOf(t, party))
	if len(all) != len(everyKind) {
		t.Fatalf("%d payloads of %d kinds", len(all), len(everyKind))
	}
	for _, kind := range everyKind {
		key, attempt := party, uint32(1)
		if kind.FromAggregator() {
			key = aggregator
		}
		if kind.PreAttempt() {
			attempt = 0
		}
		e := protocoltest.Sealed(signerOf(t, key).Seal(study, kind, attempt, all[kind])).Envelope()
		out = append(out, envelopeCase{Note: string(kind), Encoded: wire.EncodeEnvelope(e), Signer: key})
	}
	return append(out, refusedEnvelopes(t, study, party, all)...)
}

// refusedEnvelopes returns valid ones with one thing changed.
func refusedEnvelopes(t *testing.T, study protocol.StudyID, key hexed, all map[protocol.Kind][]byte) (out []envelopeCase) {
	signer := signerOf(t, key)
	add := func(note string, change func(e *protocol.Envelope)) {
		e := protocoltest.Sealed(signer.Seal(study, protocol.KindApprove, 0, bytes.Clone(all[protocol.KindApprove]))).Envelope()
		e.Signature = bytes.Clone(e.Signature)
		change(&e)
		out = append(out, envelopeCase{Note: note, Encoded: wire.EncodeEnvelope(e), Signer: key})
	}
	add("a bit of the payload turned", func(e *protocol.Envelope) { e.Payload[5] ^= 1 })
	add("a bit of the signature turned", func(e *protocol.Envelope) { e.Signature[5] ^= 1 })
	add("another study", func(e *protocol.Envelope) { e.Study[0] ^= 1 })
	add("another sender", func(e *protocol.Envelope) { e.Sender = protocoltest.Identity("party 1").ID() })
	add("another kind", func(e *protocol.Envelope) { e.Kind = protocol.KindWithdraw })
	add("an attempt where there is none yet", func(e *protocol.Envelope) { e.Attempt = 1 })
	add("a sender of small order", func(e *protocol.Envelope) { e.Sender = protocol.PeerID{1} })
	add("a signature of 63 bytes", func(e *protocol.Envelope) { e.Signature = e.Signature[:63] })
	sign := func(note string, kind protocol.Kind, attempt uint32, payload []byte) {
		e := protocol.Envelope{Study: study, Sender: signer.ID(), Kind: kind, Attempt: attempt, Payload: payload}
		e.Signature = ed25519.Sign(ed25519.NewKeyFromSeed(key), e.Preimage()) // Seal would refuse it
		out = append(out, envelopeCase{Note: note, Encoded: wire.EncodeEnvelope(e), Signer: key})
	}
	sign("signed, of an unknown kind", "vote", 1, nil)
	sign("signed, a commit of attempt 0", protocol.KindCommit, 0, all[protocol.KindCommit])
	sign("signed, with a payload of another kind", protocol.KindApprove, 0, all[protocol.KindCommit])
	unknown := protowire.AppendTag(bytes.Clone(all[protocol.KindApprove]), 99, protowire.VarintType)
	sign("signed, with an unknown field in the payload", protocol.KindApprove, 0, protowire.AppendVarint(unknown, 1))
	sign("signed, with a payload cut off", protocol.KindApprove, 0, all[protocol.KindApprove][:20])
	sign("signed, with a payload that is larger than its kind has", protocol.KindConfirm, 1, make([]byte, protocol.KindConfirm.MaxPayload()+1))
	good := wire.EncodeEnvelope(protocoltest.Sealed(signer.Seal(study, protocol.KindApprove, 0, all[protocol.KindApprove])).Envelope())
	field := protowire.AppendVarint(protowire.AppendTag(good, 99, protowire.VarintType), 1)
	return append(out, envelopeCase{Note: "an unknown field beside the envelope's own", Encoded: field, Signer: key})
}

// statementCase is a signature of another kind: board heads, ledger heads, mailboxes,
// further results.
type statementCase struct {
	What     string       `json:"what"`
	Signer   hexed        `json:"signer"`
	Study    hexed        `json:"study,omitempty"`
	Peer     hexed        `json:"peer,omitempty"` // of a ledger head: the aggregator; of a countersignature: the party
	Count    uint64       `json:"count,omitempty"`
	Digest   hexed        `json:"digest,omitempty"`   // chain or hash
	Key      hexed        `json:"key,omitempty"`      // of a mailbox
	T2       hexed        `json:"t2,omitempty"`       // of a query, whose number, rows, columns and width are 3, 500, 64 and 2
	Document hexed        `json:"document,omitempty"` // of a query and an answer: SHA-256, and u64 size
	Further  *furtherCase `json:"further,omitempty"`
	Preimage hexed        `json:"preimage"`
	Encoded  hexed        `json:"encoded"`
}

// furtherCase is the content of a further result's statement, except its study.
type furtherCase struct {
	T2       hexed          `json:"t2"`
	At       int64          `json:"at"`
	Document documentCase   `json:"document"`
	PerParty []documentCase `json:"per_party"`
}

type documentCase struct {
	Party hexed `json:"party,omitempty"` // the only party that may read it
	Hash  hexed `json:"hash"`
	Size  int64 `json:"size"`
}

func (c documentCase) document(t *testing.T) protocol.Document {
	return protocol.Document{Hash: c.Hash.array(t), Size: c.Size}
}

// body encodes the statement as in SPEC.md.
func (c documentCase) body() []byte {
	return binary.BigEndian.AppendUint64(append(append([]byte{}, c.Party...), c.Hash...), uint64(c.Size))
}

func (c furtherCase) body() []byte {
	b := binary.BigEndian.AppendUint64(append([]byte{}, c.T2...), uint64(c.At))
	b = append(b, c.Document.body()...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.PerParty)))
	for _, d := range c.PerParty {
		b = append(b, d.body()...)
	}
	return b
}

func (c furtherCase) statement(t *testing.T, study protocol.StudyID) protocol.Further {
	f := protocol.Further{Study: study, T2: c.T2.array(t), At: protocol.Instant(c.At), Document: c.Document.document(t)}
	for _, d := range c.PerParty {
		f.PerParty = append(f.PerParty, protocol.PartyDocument{Party: d.Party.array(t), Document: d.document(t)})
	}
	return f
}

func statements() vectors {
	return cases[statementCase]{
		file:  "statements",
		about: "Given: signer (an Ed25519 private key) and what it states. To be found: the bytes under its signature, and the statement as it travels, which ends with the signature in a head and begins with it in a mailbox, a further result, a query and an answer (of which count is the time).",
		given: func(*testing.T) []statementCase {
			study, party := hexedOf(sha256.Sum256([]byte("a study file"))), protocoltest.Identity("party 0").ID()
			aggregator := protocoltest.Identity("aggregator").ID()
			chain := protocol.ExtendChain(protocol.ExtendChain(protocol.Digest{}, digest(1)), digest(2))
			return []statementCase{
				{What: "board head", Signer: identitySeed("aggregator"), Study: study, Digest: make(hexed, 32)},
				{What: "board head", Signer: identitySeed("aggregator"), Study: study, Count: 2, Digest: chain[:]},
				{What: "ledger head", Signer: identitySeed("party 0"), Peer: aggregator[:], Count: 3, Digest: hexedOf(digest(3))},
				{What: "ledger countersignature", Signer: identitySeed("aggregator"), Peer: party[:], Count: 3, Digest: hexedOf(digest(3))},
				{What: "query", Signer: identitySeed("party 0"), Study: study, T2: hexedOf(digest(5)), Document: append(hexedOf(digest(6)), 0, 0, 0, 0, 0, 0, 0xfa, 0)},
				{What: "answer", Signer: identitySeed("aggregator"), Study: study, Peer: party[:], Digest: hexedOf(digest(7)), Count: 1_800_000_000, Document: append(hexedOf(digest(8)), 0, 0, 0, 0, 0, 0, 4, 0xd2)},
				{What: "mailbox", Signer: identitySeed("party 0"), Study: study, Key: bytes.Repeat(hexed{4}, 1216)},
				{What: "further result", Signer: identitySeed("aggregator"), Study: study, Further: &furtherCase{
					T2: hexedOf(digest(5)), At: 1_767_225_600, Document: documentCase{Hash: hexedOf(digest(6)), Size: 1234}, PerParty: []documentCase{},
				}},
				{What: "further result", Signer: identitySeed("aggregator"), Study: study, Further: &furtherCase{
					T2: hexedOf(digest(5)), At: 1_767_225_600, Document: documentCase{Hash: hexedOf(digest(6)), Size: 1234},
					PerParty: []documentCase{{Party: party[:], Hash: hexedOf(digest(7)), Size: 99}, {Party: hexedOf(protocoltest.Identity("party 1").ID()), Hash: hexedOf(digest(8)), Size: 1 << 40}},
				}},
			}
		},
		fill: fillStatement,
	}
}

// fillStatement implements the layouts of SPEC.md independently.
func fillStatement(t *testing.T, c *statementCase) {
	signer := signerOf(t, c.Signer)
	own := signer.ID()
	join := func(prefix string, fields ...[]byte) hexed {
		b := []byte(prefix)
		for _, f := range fields {
			if len(f) == 8 { // a count has no length prefix
				b = append(b, f...)
				continue
			}
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(f))), f...)
		}
		return b
	}
	count := binary.BigEndian.AppendUint64(nil, c.Count)
	var signature []byte
	switch c.What {
	case "board head":
		head := signer.SignHead(c.Study.array(t), c.Count, c.Digest.array(t))
		c.Preimage, c.Encoded, signature = join("cosketch/1/head\x00", c.Study, count, c.Digest), wire.EncodeHead(head), head.Signature
	case "ledger head":
		head := signer.SignLedgerHead(c.Peer.array(t), c.Count, c.Digest.array(t))
		c.Preimage, c.Encoded, signature = join("cosketch/1/ledger-head\x00", own[:], c.Peer, count, c.Digest), wire.EncodeLedgerHead(head), head.Signature
	case "ledger countersignature":
		head := protocoltest.Identity("party 0").SignLedgerHead(own, c.Count, c.Digest.array(t))
		head = signer.Countersign(head)
		c.Preimage, c.Encoded, signature = join("cosketch/1/ledger-countersignature\x00", c.Peer, own[:], count, c.Digest), wire.EncodeLedgerHead(head), head.Countersignature
	case "query":
		q := signer.SignQuery(protocol.Query{
			Study: c.Study.array(t), T2: c.T2.array(t), Number: 3, Rows: 500, Cols: 64, Width: 2,
			Data: protocol.Document{Hash: protocol.Digest(c.Document), Size: int64(binary.BigEndian.Uint64(c.Document[32:]))},
		})
		body := binary.BigEndian.AppendUint32(slices.Clone(c.T2), 3)
		body = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(body, 500), 64)
		body = append(append(body, 2), c.Document...)
		c.Preimage, c.Encoded, signature = join("cosketch/1/query\x00", c.Study, own[:], body), q.Encode(), q.Signature
		if !bytes.Equal(c.Encoded, append(slices.Clone(signature), body...)) {
			t.Error("a query travels otherwise than as its signature and its body")
		}
	case "answer":
		a := signer.SignAnswer(protocol.Answer{
			Study: c.Study.array(t), Party: protocol.PeerID(c.Peer), Query: c.Digest.array(t), At: protocol.Instant(c.Count),
			Document: protocol.Document{Hash: protocol.Digest(c.Document), Size: int64(binary.BigEndian.Uint64(c.Document[32:]))},
		})
		body := append(append(append(slices.Clone(c.Peer), c.Digest...), count...), c.Document...)
		c.Preimage, c.Encoded, signature = join("cosketch/1/answer\x00", c.Study, own[:], body), a.Encode(), a.Signature
	case "mailbox":
		box := signer.SignMailbox(c.Study.array(t), c.Key)
		c.Preimage, c.Encoded, signature = join("cosketch/1/mailbox\x00", c.Study, own[:], c.Key), box.Encode(), box.Signature
	case "further result":
		f := signer.SignFurther(c.Further.statement(t, c.Study.array(t)))
		c.Preimage, c.Encoded, signature = join("cosketch/1/further\x00", c.Study, own[:], c.Further.body()), f.Encode(), f.Signature
	default:
		t.Fatalf("a statement %q", c.What)
	}
	if !ed25519.Verify(own[:], c.Preimage, signature) {
		t.Errorf("%s: the signature is over other bytes", c.What)
	}
}
