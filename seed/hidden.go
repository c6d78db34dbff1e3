package seed

import (
	"bytes"

	"github.com/cosketch/cosketch/seed/secret"
)

// Hidden holds encoded secrets on their way to or from the file that stores them. It cannot be
// printed or encoded, see secret.Of.
type Hidden struct{ byteBox }

type byteBox = secret.Of[[]byte]

// Hide returns a hidden copy of b.
func Hide(b []byte) Hidden { return Hidden{secret.New(bytes.Clone(b))} }

// Reveal returns the bytes; nil for the zero Hidden.
func (h Hidden) Reveal() []byte {
	if b := secret.Reveal(h.byteBox); b != nil {
		return *b
	}
	return nil
}
