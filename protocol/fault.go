package protocol

import "fmt"

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

func (f *Fault) Unwrap() error { return f.Err }
