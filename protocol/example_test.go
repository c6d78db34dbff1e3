package protocol_test

import (
	"crypto/ed25519"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
)

// A node signs a message of a study. The receiver verifies it before reading the payload.
func ExampleVerify() {
	signer, err := protocol.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		fmt.Println(err)
		return
	}
	sealed, err := signer.Seal(protocol.StudyID{1}, protocol.KindApprove, 0, []byte("payload"))
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := protocol.Verify(sealed.Envelope())
	fmt.Println(got.Kind(), got.Sender() == signer.ID(), err)

	changed := sealed.Envelope()
	changed.Payload = []byte("another")
	_, err = protocol.Verify(changed)
	fmt.Println(err)
	// Output:
	// approve true <nil>
	// approve/0 from 12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN: signature does not verify
}
