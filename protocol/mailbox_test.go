package protocol

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

func TestMailbox(t *testing.T) {
	signer, err := NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	id := StudyID{5}
	encoded := signer.SignMailbox(id, []byte("a public key")).Encode()
	m, err := DecodeMailbox(id, signer.ID(), encoded)
	if err != nil || string(m.Key) != "a public key" || m.Owner != signer.ID() || m.Study != id {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := DecodeMailbox(StudyID{6}, signer.ID(), encoded); err == nil {
		t.Error("a mailbox of another study was accepted")
	}
	if _, err := DecodeMailbox(id, PeerID{9}, encoded); err == nil {
		t.Error("a mailbox of another party was accepted")
	}
	for i := range encoded {
		turned := bytes.Clone(encoded)
		turned[i] ^= 1
		if _, err := DecodeMailbox(id, signer.ID(), turned); err == nil {
			t.Fatalf("byte %d turned: accepted", i)
		}
	}
	for _, n := range []int{0, ed25519.SignatureSize - 1, ed25519.SignatureSize + maxMailboxKey + 1} {
		if _, err := DecodeMailbox(id, signer.ID(), make([]byte, n)); err == nil {
			t.Errorf("%d bytes were accepted", n)
		}
	}
}
