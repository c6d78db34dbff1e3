package protocol_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"testing"
	"testing/cryptotest"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/transcript"
)

// bundleCase is a file from one node to another. This test reads it as SPEC.md section 18.2
// specifies; package bundle reads it in its own tests.
type bundleCase struct {
	Note      string       `json:"note"`
	Identity  hexed        `json:"identity,omitempty"`  // the recipient's Ed25519 private key, if it is a party
	Recipient hexed        `json:"recipient,omitempty"` // input of DeriveKeyPair; a party's is derived from its identity
	PublicKey hexed        `json:"public_key"`          // of the recipient
	Encoded   hexed        `json:"encoded"`
	Read      bool         `json:"read"`
	Study     hexed        `json:"study"`
	From      hexed        `json:"from"`
	To        hexed        `json:"to"`
	Info      hexed        `json:"info"`
	Parts     []bundlePart `json:"parts,omitempty"` // if the bundle was read to its end
}

type bundlePart struct {
	Name string `json:"name"`
	Body hexed  `json:"body"`
}

const bundleMagic = "cosketch bundle/1\n"

func bundles() vectors {
	return cases[bundleCase]{
		file: "bundles",
		about: "Given: a bundle and what its recipient's HPKE key follows from: recipient, the input of DeriveKeyPair, or a party's identity, an Ed25519 private key (seed). " +
			"To be found: that key, whose bundle it is, the info of its HPKE context, and, where it can be read to its end, its parts.",
		given: givenBundles,
		fill: func(t *testing.T, c *bundleCase) {
			at := len(bundleMagic)
			c.Study, c.From, c.To = c.Encoded[at:at+32], c.Encoded[at+32:at+64], c.Encoded[at+64:at+96]
			if c.Identity != nil {
				c.Recipient = mailboxInput(t, c.Identity, c.Study)
			}
			key := derivedKey(t, c.Recipient)
			c.PublicKey, c.Info = key.PublicKey().Bytes(), bundleInfo(c.Study, c.From, c.To)
			c.Parts, c.Read = openBundle(c.Encoded[at+96:], key, c.Info)
		},
	}
}

func derivedKey(t *testing.T, input []byte) hpke.PrivateKey {
	t.Helper()
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(input)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// mailboxInput returns the input from which this implementation derives a party's mailbox key.
func mailboxInput(t *testing.T, identity, study hexed) hexed {
	t.Helper()
	input, err := hkdf.Key(sha256.New, identity, study, "cosketch/1/mailbox", 32)
	if err != nil {
		t.Fatal(err)
	}
	return input
}

func bundleInfo(study, from, to hexed) hexed {
	return transcript.Join("cosketch/1/bundle", study, from, to)
}

// openBundle reads what follows a bundle's label.
func openBundle(rest []byte, key hpke.PrivateKey, info []byte) (parts []bundlePart, whole bool) {
	const encapsulated = 1120
	if len(rest) < encapsulated {
		return nil, false
	}
	context, err := hpke.NewRecipient(rest[:encapsulated], key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info)
	if err != nil {
		return nil, false
	}
	for rest = rest[encapsulated:]; len(rest) >= 4; {
		n := binary.BigEndian.Uint32(rest)
		if rest = rest[4:]; uint64(n) > uint64(len(rest)) {
			return nil, false
		}
		plain, err := context.Open(nil, rest[:n])
		if rest = rest[n:]; err != nil || len(plain) < 2 || len(plain) < 2+int(plain[1]) {
			return nil, false
		}
		name, body := string(plain[2:2+plain[1]]), plain[2+int(plain[1]):]
		if plain[0] == 1 {
			return parts, len(rest) == 0 && name == "" && len(body) == 0
		}
		parts = append(parts, bundlePart{name, body})
	}
	return nil, false
}

// sealBundle writes a bundle.
func sealBundle(t *testing.T, study, from, to hexed, key hpke.PublicKey, parts []bundlePart) hexed {
	t.Helper()
	enc, context, err := hpke.NewSender(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), bundleInfo(study, from, to))
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.Join([][]byte{[]byte(bundleMagic), study, from, to, enc}, nil)
	seal := func(flag byte, p bundlePart) {
		sealed, err := context.Seal(nil, append(append([]byte{flag, byte(len(p.Name))}, p.Name...), p.Body...))
		if err != nil {
			t.Fatal(err)
		}
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(sealed))), sealed...)
	}
	for _, p := range parts {
		seal(0, p)
	}
	seal(1, bundlePart{})
	return out
}

// givenBundles returns one to the aggregator and one to a party, with every part that there is, and
// some that must be refused.
func givenBundles(t *testing.T) []bundleCase {
	cryptotest.SetGlobalRandom(t, 2026)
	party, aggregator := identitySeed("party 0"), identitySeed("aggregator")
	p, a := signerOf(t, party), signerOf(t, aggregator)
	from, to, study := p.ID(), a.ID(), protocol.StudyID(sha256.Sum256([]byte("a study file")))
	hpkeInput := hexed(bytes.Repeat([]byte{7}, 32))
	mailbox := derivedKey(t, mailboxInput(t, party, study[:])).PublicKey()

	approve := protocoltest.Sealed(p.Seal(study, protocol.KindApprove, 0, wire.EncodeApprove(protocol.Approve{Meaning: digest(1)})))
	head := p.SignLedgerHead(a.ID(), 1, digest(2))
	to1 := []bundlePart{
		{"mailbox", p.SignMailbox(study, mailbox.Bytes()).Encode()},
		{"ledger", wire.EncodeLedgerHead(head)},
		{"post", wire.EncodePost([]protocol.Envelope{approve.Envelope()})},
		{"chunk", wire.EncodeChunk(wire.Chunk{Study: study, Sketch: 0, Index: 0, Data: []byte{1, 2, 3}})},
	}
	chain := protocol.ExtendChain(protocol.Digest{}, approve.ID())
	document := []byte("a document")
	hash := sha256.Sum256(document)
	to2 := []bundlePart{
		{"ledger", wire.EncodeLedgerHead(a.Countersign(head))},
		{"board", wire.EncodeBoardReply(wire.BoardReply{Envelopes: []protocol.Envelope{approve.Envelope()}, Head: a.SignHead(study, 1, chain)})},
		{"document", append(hash[:], document...)},
	}
	up := bundleCase{Note: "to the aggregator", Recipient: hpkeInput, Encoded: sealBundle(t, study[:], from[:], to[:], derivedKey(t, hpkeInput).PublicKey(), to1)}
	down := bundleCase{Note: "to a party", Identity: party, Encoded: sealBundle(t, study[:], to[:], from[:], mailbox, to2)}
	change := func(note string, to func(b []byte) []byte) bundleCase {
		return bundleCase{Note: note, Recipient: hpkeInput, Encoded: to(bytes.Clone(up.Encoded))}
	}
	return []bundleCase{up, down,
		change("cut off before its last part", func(b []byte) []byte { return b[:len(b)-4-2-16] }),
		change("a byte after its end", func(b []byte) []byte { return append(b, 0) }),
		change("a bit turned", func(b []byte) []byte { b[len(b)-40] ^= 1; return b }),
		change("of another study", func(b []byte) []byte { b[len(bundleMagic)] ^= 1; return b }),
		change("as if from another", func(b []byte) []byte { b[len(bundleMagic)+32] ^= 1; return b }),
	}
}
