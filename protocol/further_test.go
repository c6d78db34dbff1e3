package protocol

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"reflect"
	"testing"
)

func TestFurther(t *testing.T) {
	signer, err := NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	id := StudyID{1, 2, 3}
	f := signer.SignFurther(Further{
		Study: id, T2: Digest{4}, At: 1_800_000_000, Document: Document{Digest{5}, 1234},
		PerParty: []PartyDocument{{PeerID{6}, Document{Digest{7}, 8}}, {PeerID{9}, Document{Digest{10}, 11}}},
	})
	encoded := f.Encode()
	got, err := DecodeFurther(id, signer.ID(), encoded)
	if err != nil || !reflect.DeepEqual(got, f) {
		t.Fatalf("read back %+v (%v), want %+v", got, err, f)
	}
	for at := range encoded { // every byte counts
		changed := bytes.Clone(encoded)
		changed[at] ^= 1
		if _, err := DecodeFurther(id, signer.ID(), changed); err == nil {
			t.Errorf("byte %d can be changed", at)
		}
	}
	for n := range encoded {
		if _, err := DecodeFurther(id, signer.ID(), encoded[:n]); err == nil {
			t.Errorf("the first %d bytes pass", n)
		}
	}
	if _, err := DecodeFurther(StudyID{9}, signer.ID(), encoded); !errors.Is(err, ErrSignature) {
		t.Errorf("as one of another study: %v", err)
	}
}

func FuzzDecodeFurther(f *testing.F) {
	signer, err := NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		f.Fatal(err)
	}
	id := StudyID{1}
	f.Add(signer.SignFurther(Further{Study: id}).Encode())
	f.Add(signer.SignFurther(Further{Study: id, PerParty: []PartyDocument{{Party: PeerID{1}}}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := DecodeFurther(id, signer.ID(), b)
		if err == nil && !bytes.Equal(got.Encode(), b) {
			t.Errorf("%x is read as what is written %x", b, got.Encode())
		}
	})
}
