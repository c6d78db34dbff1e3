// Package secret provides the box in which secrets are held, so that they cannot appear in a log
// line or document by mistake.
package secret

import (
	"errors"
	"fmt"
	"io"
)

// Of is a box that holds a secret. Its content cannot be printed or encoded: formatting writes Text
// for every verb, also inside other values, and JSON, text and gob encoders return ErrEncoded. Only
// Reveal returns the content. Copies of a box share their content. The zero box is empty.
//
// A secret type embeds an Of under an unexported name. It then has these methods and no others.
type Of[T any] struct {
	// value is behind two pointers. If a box is in an unexported field, fmt cannot call its
	// methods: it then prints arrays and, for some verbs, the target of a single pointer.
	value **T
}

// Text is printed in place of a secret.
const Text = "(secret)"

// ErrEncoded is returned instead of encoding a secret.
var ErrEncoded = errors.New("secrets cannot be encoded")

// New returns a box with a value in it. Other references to the value are the caller's
// responsibility.
func New[T any](value T) Of[T] {
	p := &value
	return Of[T]{&p}
}

// Reveal returns the content of the box, which may be read or overwritten in place. Overwriting
// affects all copies. It returns nil for an empty box. It is not a method, so that types that embed
// a box do not have it.
func Reveal[T any](box Of[T]) *T {
	if box.value == nil {
		return nil
	}
	return *box.value
}

func (Of[T]) String() string { return Text }

func (Of[T]) GoString() string { return Text }

// Format writes a fixed text for every verb.
func (Of[T]) Format(state fmt.State, _ rune) { io.WriteString(state, Text) }

func (Of[T]) MarshalJSON() ([]byte, error) { return nil, ErrEncoded }

func (Of[T]) MarshalText() ([]byte, error) { return nil, ErrEncoded }

func (Of[T]) GobEncode() ([]byte, error) { return nil, ErrEncoded }
