package protocol

import (
	"crypto/sha256"
	"strings"
)

// Words returns the identity's fingerprint in four words that can be read out over a telephone,
// like "lusab-babad-gutih-tugad": the first 64 bits of a labelled SHA-256 of the key. If two people
// see equal words, they have the same key: finding another key with these words takes about 2^64
// trials.
func (p PeerID) Words() string {
	sum := sha256.Sum256(append([]byte("cosketch fingerprint\x00"), p[:]...))
	return words(sum[:8])
}

// Words returns the first 64 bits of a study's id as four words, for comparison like those of a
// PeerID.
func (id StudyID) Words() string { return words(id[:8]) }

// words spells each two bytes as consonant, vowel, consonant, vowel, consonant: 4, 2, 4, 2
// and 4 bits, the highest first. The letters are those of proquints (Wilkerson 2009), which
// sound unlike each other.
func words(b []byte) string {
	const consonants, vowels = "bdfghjklmnprstvz", "aiou"
	var out []string
	for i := 0; i+1 < len(b); i += 2 {
		n := uint16(b[i])<<8 | uint16(b[i+1])
		out = append(out, string([]byte{
			consonants[n>>12], vowels[n>>10&3], consonants[n>>6&15], vowels[n>>4&3], consonants[n&15],
		}))
	}
	return strings.Join(out, "-")
}
