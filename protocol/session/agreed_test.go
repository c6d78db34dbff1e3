package session_test

import (
	"errors"
	"testing"

	"github.com/cosketch/cosketch/protocol/session"
)

// Anything but the outcome of an agreement gives no seed. (Every restored machine shows that a
// seeded party's secrets give one.)
func TestAgreedRefuses(t *testing.T) {
	if _, err := session.Agreed([]byte{1, 2, 3}); !errors.Is(err, session.ErrNotAgreed) {
		t.Errorf("in the middle of the agreement: %v", err)
	}
	for _, damaged := range [][]byte{nil, {}, {1}, {2}, make([]byte, 97), append([]byte{2}, make([]byte, 97)...)} {
		if o, err := session.Agreed(damaged); err == nil || errors.Is(err, session.ErrNotAgreed) || o.T2 != [32]byte{} {
			t.Errorf("%d damaged bytes: %v", len(damaged), err)
		}
	}
	whole := append([]byte{2}, make([]byte, 96)...)
	whole[96] = 7
	if o, err := session.Agreed(whole); err != nil || o.T2[31] != 7 {
		t.Errorf("whole secrets: %v, %v", o.T2, err)
	}
}
