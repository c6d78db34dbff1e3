package protocol

import (
	"regexp"
	"testing"
)

func TestWords(t *testing.T) {
	// The examples of Wilkerson's proposal: 127.0.0.1 and 63.84.220.193.
	for b, want := range map[string]string{"\x7f\x00\x00\x01": "lusab-babad", "\x3f\x54\xdc\xc1": "gutih-tugad"} {
		if got := words([]byte(b)); got != want {
			t.Errorf("%x: got %s, want %s", b, got, want)
		}
	}
	form := regexp.MustCompile(`^([bdfghjklmnprstvz][aiou]){2}[bdfghjklmnprstvz](-([bdfghjklmnprstvz][aiou]){2}[bdfghjklmnprstvz]){3}$`)
	seen := map[string]bool{}
	for b := range byte(100) {
		text := signerOf(t, b).ID().Words()
		if !form.MatchString(text) || seen[text] {
			t.Errorf("%s", text)
		}
		seen[text] = true
	}
	if got := (StudyID{0x7f, 0, 0, 1, 0x3f, 0x54, 0xdc, 0xc1, 9}).Words(); got != "lusab-babad-gutih-tugad" {
		t.Errorf("a study is %s", got)
	}
}
