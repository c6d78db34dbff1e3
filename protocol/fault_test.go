package protocol

import (
	"errors"
	"strings"
	"testing"
)

func TestFault(t *testing.T) {
	culprit := signerOf(t, 7).ID()
	cause := errors.New("the cause")
	err := error(&Fault{Culprit: culprit, Kind: KindShare, Attempt: 3, Err: cause})
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if want := "share/3 from " + culprit.String() + ": the cause"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	// A peer chose the kind, so it must not reach a terminal unescaped.
	if text := (&Fault{Kind: "\x1b[2J\n", Err: cause}).Error(); strings.ContainsAny(text, "\x1b\n") {
		t.Errorf("%q", text)
	}
}
