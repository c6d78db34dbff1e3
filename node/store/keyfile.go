package store

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
)

// CreateKey creates an Ed25519 key in a new file of mode 0600, in the format of an identity, for a
// person without a node. It returns the key's id.
func CreateKey(path string, entropy io.Reader) (protocol.PeerID, error) {
	id, err := createKey(path, entropy)
	if err != nil {
		return id, fmt.Errorf("making a key: %w", err)
	}
	return id, nil
}

func createKey(path string, entropy io.Reader) (protocol.PeerID, error) {
	var seed [ed25519.SeedSize]byte
	if _, err := io.ReadFull(entropy, seed[:]); err != nil {
		return protocol.PeerID{}, fmt.Errorf("reading entropy: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed[:])
	text, err := encodeIdentity(key)
	if err != nil {
		return protocol.PeerID{}, err
	}
	if err := durable.New(path, bytes.NewReader(text)); err != nil {
		return protocol.PeerID{}, err
	}
	return protocol.PeerIDFromKey(key.Public().(ed25519.PublicKey))
}

// ReadKey reads a key that CreateKey wrote. It refuses a file that others can read.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	text, err := private.Read(path)
	if err != nil {
		return nil, fmt.Errorf("reading a key: %w", err)
	}
	key, err := parseIdentity(text)
	if err != nil {
		return nil, fmt.Errorf("reading key %s: %w", path, err)
	}
	return key, nil
}
