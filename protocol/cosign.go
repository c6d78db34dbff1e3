package protocol

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Cosignature is a second person's consent to a party taking part in a study. It stays with the
// party, whose site file names who may give it; no other node asks for it.
type Cosignature struct {
	Study     StudyID
	Party     PeerID // the party that takes part
	By        PeerID // the person who consents
	Signature []byte // Ed25519 by By
}

// cosignPrefix begins the bytes that a cosignature covers. No other signature covers bytes with
// this prefix.
const cosignPrefix = "cosketch/1/cosign\x00"

// cosignTag begins the text form of a cosignature, which people pass on.
const cosignTag = "cosketch-cosignature/1"

func (c Cosignature) preimage() []byte {
	b := transcript.AppendField([]byte(cosignPrefix), c.Study[:])
	b = transcript.AppendField(b, c.Party[:])
	return transcript.AppendField(b, c.By[:])
}

// Cosign signs this signer's consent to a party taking part in a study.
func (s Signer) Cosign(study StudyID, party PeerID) Cosignature {
	c := Cosignature{Study: study, Party: party, By: s.id}
	c.Signature = s.sign(c.preimage())
	return c
}

// String returns the cosignature as a line of text: the signer and the signature.
func (c Cosignature) String() string {
	return fmt.Sprintf("%s %s %s", cosignTag, c.By, base64.StdEncoding.EncodeToString(c.Signature))
}

// ParseCosignature reads a cosignature that String wrote for a party's study, and verifies it.
func ParseCosignature(study StudyID, party PeerID, text string) (Cosignature, error) {
	fail := func(err error) (Cosignature, error) {
		return Cosignature{}, fmt.Errorf("cosignature of study %s: %w", study.Short(), err)
	}
	words := strings.Fields(text)
	if len(words) != 3 || words[0] != cosignTag {
		return fail(fmt.Errorf("want one line that begins with %s", cosignTag))
	}
	by, err := ParsePeerID(words[1])
	if err != nil {
		return fail(err)
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(words[2])
	if err != nil {
		return fail(errors.New("the signature is not base64"))
	}
	c := Cosignature{Study: study, Party: party, By: by, Signature: signature}
	if !ed25519.Verify(by[:], c.preimage(), signature) {
		return fail(fmt.Errorf("%w (is it for this study, and for this party?)", ErrSignature))
	}
	return c, nil
}
