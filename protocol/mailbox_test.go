package protocol

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"errors"
	"testing"
)

func TestMailbox(t *testing.T) {
	signer, err := NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	id := StudyID{5}
	private, err := hpke.MLKEM768X25519().DeriveKeyPair(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	key := private.PublicKey().Bytes()
	encoded := signer.SignMailbox(id, key).Encode()
	m, err := DecodeMailbox(id, signer.ID(), encoded)
	if err != nil || !bytes.Equal(m.Key, key) || m.Owner != signer.ID() || m.Study != id {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := DecodeMailbox(StudyID{6}, signer.ID(), encoded); err == nil {
		t.Error("a mailbox of another study was accepted")
	}
	if _, err := DecodeMailbox(id, PeerID{9}, encoded); err == nil {
		t.Error("a mailbox of another party was accepted")
	}
	lowOrder := append(bytes.Clone(key[:len(key)-32]), make([]byte, 32)...)
	for name, unusable := range map[string][]byte{
		"empty": nil, "short": key[1:], "long": append(bytes.Clone(key), 0), "an invalid encoding": bytes.Repeat([]byte{0xff}, len(key)), "of low order": lowOrder,
	} {
		var refused *MailboxError
		if _, err := DecodeMailbox(id, signer.ID(), signer.SignMailbox(id, unusable).Encode()); !errors.As(err, &refused) || refused.Owner != signer.ID() {
			t.Errorf("a key that is %s: %v", name, err)
		}
	}
	for i := range encoded {
		turned := bytes.Clone(encoded)
		turned[i] ^= 1
		if _, err := DecodeMailbox(id, signer.ID(), turned); !errors.As(err, new(*MailboxError)) {
			t.Fatalf("byte %d turned: accepted", i)
		}
	}
	for _, n := range []int{0, ed25519.SignatureSize - 1, ed25519.SignatureSize + maxMailboxKey + 1} {
		if _, err := DecodeMailbox(id, signer.ID(), make([]byte, n)); err == nil {
			t.Errorf("%d bytes were accepted", n)
		}
	}
}
