package protocol_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/mlkem"
	"crypto/sha3"
	"testing"
)

// Section 1 of SPEC.md specifies how a key pair is derived from 32 bytes; the library does the
// same.
func TestDeriveKeyPairIsThatOfTheSpecification(t *testing.T) {
	ikm := bytes.Repeat([]byte{7}, 32)
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(ikm)
	must(t, err)
	private, err := key.Bytes()
	must(t, err)

	sk := sha3.SumSHAKE256([]byte(string(ikm)+"HPKE-v1KEM\x64\x7a\x00\x0dDeriveKeyPair\x00\x20"), 32)
	if !bytes.Equal(private, sk) {
		t.Errorf("DeriveKeyPair is %x, by SPEC.md %x", private, sk)
	}
	seeds := sha3.SumSHAKE256(sk, 96)
	pq, err := mlkem.NewDecapsulationKey768(seeds[:64])
	must(t, err)
	x, err := ecdh.X25519().NewPrivateKey(seeds[64:])
	must(t, err)
	public := append(pq.EncapsulationKey().Bytes(), x.PublicKey().Bytes()...)
	if !bytes.Equal(key.PublicKey().Bytes(), public) {
		t.Error("the public key is not that of SPEC.md")
	}
	if hpke.MLKEM768X25519().ID() != 0x647a || len(public) != 1216 {
		t.Errorf("KEM %#x with public keys of %d bytes", hpke.MLKEM768X25519().ID(), len(public))
	}
	info := []byte("info")
	sealed, err := hpke.Seal(key.PublicKey(), hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, []byte("plain"))
	must(t, err)
	if len(sealed) != 1136+len("plain") {
		t.Errorf("a sealed text is %d bytes longer", len(sealed)-len("plain"))
	}
}
