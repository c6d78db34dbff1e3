package store

import (
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// PEM types of the key files. The identity is in the format that common tools read.
const (
	identityPEM = "PRIVATE KEY"
	hpkePEM     = "COSKETCH MLKEM768-X25519 PRIVATE KEY"
)

// hpkeSeed is the length of a MLKEM768-X25519 private key in bytes.
const hpkeSeed = 32

func encodeIdentity(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: identityPEM, Bytes: der}), nil
}

func parseIdentity(text []byte) (ed25519.PrivateKey, error) {
	der, err := decodePEM(text, identityPEM)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("not a PKCS #8 private key")
	}
	identity, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a %T, want an Ed25519 key", key)
	}
	return identity, nil
}

func encodeHPKE(key hpke.PrivateKey) ([]byte, error) {
	raw, err := key.Bytes()
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: hpkePEM, Bytes: raw}), nil
}

func parseHPKE(text []byte) (hpke.PrivateKey, error) {
	raw, err := decodePEM(text, hpkePEM)
	if err != nil {
		return nil, err
	}
	return hpke.MLKEM768X25519().NewPrivateKey(raw)
}

func decodePEM(text []byte, kind string) ([]byte, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("want one PEM block %q (it is damaged, or another file: put its own back, or restore a backup)", kind)
	}
	return block.Bytes, nil
}
