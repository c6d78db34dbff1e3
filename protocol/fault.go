package protocol

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Fault is an error that names its culprit: the peer whose message was wrong.
type Fault struct {
	Culprit PeerID
	Kind    Kind
	Attempt uint32
	Err     error
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s/%d from %s: %v", f.Kind, f.Attempt, f.Culprit, f.Err)
}

// Fail returns the catalogue entry of a peer's fault.
func (f *Fault) Fail() *fail.Error { return fail.PeerFault.Fail() }

func (f *Fault) Unwrap() error { return f.Err }
