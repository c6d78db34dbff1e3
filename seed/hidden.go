package seed

import (
	"bytes"
	"fmt"
	"io"
)

// Hidden is the encoding of secrets on its way to, or from, the one file that holds them.
// Nothing prints or marshals it: formatting gives a fixed text with every verb, also inside
// other values, and JSON and text encodings are errors.
type Hidden struct {
	// data is behind two pointers, for the reason that Seed has.
	data **[]byte
}

const hiddenRedacted = "bytes (secret)"

// Hide returns a copy of bytes, hidden.
func Hide(b []byte) Hidden {
	data := &[][]byte{bytes.Clone(b)}[0]
	return Hidden{&data}
}

// Reveal returns the bytes; nil of the zero Hidden.
func (h Hidden) Reveal() []byte {
	if h.data == nil {
		return nil
	}
	return **h.data
}

// String returns a fixed text.
func (h Hidden) String() string { return hiddenRedacted }

// GoString returns a fixed text.
func (h Hidden) GoString() string { return hiddenRedacted }

// Format writes a fixed text for every verb.
func (h Hidden) Format(state fmt.State, _ rune) { io.WriteString(state, hiddenRedacted) }

// MarshalJSON always fails.
func (h Hidden) MarshalJSON() ([]byte, error) { return nil, errPrinted }

// MarshalText always fails.
func (h Hidden) MarshalText() ([]byte, error) { return nil, errPrinted }
