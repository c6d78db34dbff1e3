package seed

import (
	"bytes"

	"github.com/cosketch/cosketch/seed/secret"
)

// Hidden is the encoding of secrets on its way to, or from, the one file that holds them.
// Nothing prints or encodes it: see secret.Of.
type Hidden struct{ byteBox }

type byteBox = secret.Of[[]byte]

// Hide returns a copy of bytes, hidden.
func Hide(b []byte) Hidden { return Hidden{secret.New(bytes.Clone(b))} }

// Reveal returns the bytes; nil of the zero Hidden.
func (h Hidden) Reveal() []byte {
	if b := secret.Reveal(h.byteBox); b != nil {
		return *b
	}
	return nil
}
