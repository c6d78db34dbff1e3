package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHeadLayout(t *testing.T) {
	signer := signerOf(t, 7)
	h := signer.SignHead(StudyID(bytes.Repeat([]byte{0x55}, 32)), 0x0102030405060708, Digest(bytes.Repeat([]byte{0x66}, 32)))
	want := "cosketch/1/head\x00" +
		"\x00\x00\x00\x20" + strings.Repeat("\x55", 32) +
		"\x01\x02\x03\x04\x05\x06\x07\x08" +
		"\x00\x00\x00\x20" + strings.Repeat("\x66", 32)
	if got := h.preimage(); string(got) != want {
		t.Fatalf("preimage\n%x, want\n%x", got, want)
	}
	if got := hex.EncodeToString(h.Signature); got != goldenHead {
		t.Errorf("signature %s, want %s", got, goldenHead)
	}
}

const goldenHead = "f12901b8132c8d6efdb7af10ed5b19f69f473ee9d3785dce79a232b15da18a5e24ded0b40fdb471868a284ae8883027b1961c0b107d315539740525829934206"

func TestVerifyHead(t *testing.T) {
	signer := signerOf(t, 7)
	good := signer.SignHead(StudyID{1}, 3, Digest{2})
	if err := VerifyHead(good, signer.ID()); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, h Head, by PeerID) {
		if err := VerifyHead(h, by); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("another aggregator", good, signerOf(t, 8).ID())
	refused("no signature", Head{Study: good.Study, Count: good.Count, Chain: good.Chain}, signer.ID())
	for bit := range 256 {
		for what, change := range map[string]func(*Head){
			"study":     func(h *Head) { h.Study[bit/8] ^= 1 << (bit % 8) },
			"chain":     func(h *Head) { h.Chain[bit/8] ^= 1 << (bit % 8) },
			"count":     func(h *Head) { h.Count ^= 1 << (bit % 64) },
			"nonce":     func(h *Head) { h.Signature[bit/8] ^= 1 << (bit % 8) },
			"signature": func(h *Head) { h.Signature[32+bit/8] ^= 1 << (bit % 8) },
		} {
			h := good
			h.Signature = bytes.Clone(good.Signature)
			change(&h)
			refused("a flipped bit of the "+what, h, signer.ID())
		}
	}
}

// An envelope of the aggregator is not accepted as a head, even if its payload looks like one.
func TestEnvelopesAreNoHeads(t *testing.T) {
	signer := signerOf(t, 7)
	h := Head{Study: StudyID{1}, Count: 1, Chain: Digest{2}}
	e := sealed(signer.Seal(h.Study, KindStop, 1, h.preimage())).Envelope()
	h.Signature = e.Signature
	if err := VerifyHead(h, signer.ID()); !errors.Is(err, ErrSignature) {
		t.Error(err)
	}
}

func chainOver(ids []Digest) (chain Digest) {
	for _, id := range ids {
		chain = ExtendChain(chain, id)
	}
	return chain
}

func TestChainLink(t *testing.T) {
	before, id := Digest(bytes.Repeat([]byte{0x55}, 32)), Digest(bytes.Repeat([]byte{0x66}, 32))
	want := sha256.Sum256([]byte("\x00\x00\x00\x0bboard chain" +
		"\x00\x00\x00\x20" + strings.Repeat("\x55", 32) + "\x00\x00\x00\x20" + strings.Repeat("\x66", 32)))
	if got := ExtendChain(before, id); got != want {
		t.Errorf("%s, want %x", got, want)
	}
}

// Two boards have the same chain only if they hold the same envelopes in the same order.
func TestChainsTellBoardsApart(t *testing.T) {
	board := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 2), func(i int) Digest { return Digest{byte(i)} }), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := board.Draw(t, "a"), board.Draw(t, "b")
		same := len(a) == len(b)
		for i := 0; same && i < len(a); i++ {
			same = a[i] == b[i]
		}
		if (chainOver(a) == chainOver(b)) != same {
			t.Fatalf("%v and %v: same chain %v", a, b, !same)
		}
	})
	if chainOver(nil) != (Digest{}) {
		t.Error("the chain of an empty board is not zero")
	}
}
