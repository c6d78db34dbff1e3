package protocol

import "github.com/cosketch/cosketch/seed/transcript"

// Digest is a SHA-256 value.
type Digest [32]byte

// Hash returns SHA-256 over a label and length-prefixed fields (package seed/transcript). Each use
// has its own label.
func Hash(label string, fields ...[]byte) Digest {
	return transcript.Hash(label, fields...)
}
