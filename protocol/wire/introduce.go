package wire

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

// Introduce is a guest's request: an introduction, under an invitation.
type Introduce struct {
	Invitation   [4]byte  // id of the invitation
	Secret       [16]byte // known to whoever was invited
	Introduction []byte   // text of a column list, not checked yet
}

// MaxIntroduction bounds the text of an introduction in bytes, and MaxIntroduce the whole call.
const (
	MaxIntroduction = 255 << 10
	MaxIntroduce    = 256 << 10
)

// EncodeIntroduce encodes the request.
func EncodeIntroduce(i Introduce) []byte {
	return marshal(&wirepb.IntroduceRequest{Invitation: i.Invitation[:], Secret: i.Secret[:], Introduction: i.Introduction})
}

// DecodeIntroduce decodes what EncodeIntroduce wrote.
func DecodeIntroduce(b []byte) (i Introduce, err error) {
	var m wirepb.IntroduceRequest
	err = decode("introduction", b, &m, func() error {
		if len(m.GetInvitation()) != len(i.Invitation) || len(m.GetSecret()) != len(i.Secret) {
			return fmt.Errorf("an invitation of %d and %d bytes, want %d and %d", len(m.GetInvitation()), len(m.GetSecret()), len(i.Invitation), len(i.Secret))
		}
		if n := len(m.GetIntroduction()); n == 0 || n > MaxIntroduction {
			return fmt.Errorf("introduction of %d bytes, want 1 to %d", n, MaxIntroduction)
		}
		i = Introduce{[4]byte(m.GetInvitation()), [16]byte(m.GetSecret()), m.GetIntroduction()}
		return nil
	})
	return i, err
}
