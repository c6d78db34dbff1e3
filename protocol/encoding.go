package protocol

import "github.com/cosketch/cosketch/seed/transcript"

// Digest is a SHA-256 value.
type Digest [32]byte

// Hash returns SHA-256 over a label and length-prefixed fields (package
// seed/transcript). The label names the use; every use has its own.
func Hash(label string, fields ...[]byte) Digest {
	return transcript.Hash(label, fields...)
}
