package protocol

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
)

func TestCosignature(t *testing.T) {
	second, other := signerOf(t, 7), signerOf(t, 8)
	study, party := StudyID{1}, signerOf(t, 9).ID()
	text := second.Cosign(study, party).String()
	c, err := ParseCosignature(study, party, " "+text+"\n")
	if err != nil || c.By != second.ID() {
		t.Fatalf("%v, %v", c, err)
	}
	for name, bad := range map[string]struct {
		study StudyID
		party PeerID
		text  string
	}{
		"of another study": {StudyID{2}, party, text},
		"of another party": {study, other.ID(), text},
		"by another":       {study, party, strings.Replace(text, second.ID().String(), other.ID().String(), 1)},
		"cut off":          {study, party, text[:len(text)-4]},
		"of nobody":        {study, party, strings.Replace(text, second.ID().String(), "12D3", 1)},
		"empty":            {study, party, ""},
		"of another kind":  {study, party, strings.Replace(text, cosignTag, "x", 1)},
		"not base64":       {study, party, text + "!"},
	} {
		if _, err := ParseCosignature(bad.study, bad.party, bad.text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParseCosignature(f *testing.F) {
	signer, err := NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signer.Cosign(StudyID{1}, PeerID{2}).String())
	f.Add(cosignTag + " 12D3KooW AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCosignature(StudyID{1}, PeerID{2}, text)
		if err == nil && c.By != signer.ID() {
			t.Errorf("a cosignature by nobody: %v", c)
		}
	})
}
