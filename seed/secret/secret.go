// Package secret has the one box in which secrets are kept, so that neither a log line nor a
// document has them by mistake.
package secret

import (
	"errors"
	"fmt"
	"io"
)

// Of is a box that holds a secret. Nothing prints or encodes what is in it: formatting gives
// Text with every verb, also inside other values, and JSON, text and gob encodings are
// ErrEncoded. Reveal alone gives it out. Copies of a box share what is in it. The zero box
// is empty.
//
// A type that is secret embeds an Of under an unexported name, and so has these methods and
// no others.
type Of[T any] struct {
	// value is behind two pointers: where a box is in an unexported field, fmt cannot call
	// its methods, and prints arrays and, for some verbs, what a single pointer points to.
	value **T
}

// Text stands for a secret where one would be printed.
const Text = "(secret)"

// ErrEncoded reports that a secret would have been encoded.
var ErrEncoded = errors.New("a secret is not to be encoded")

// New returns a box with a value in it. What else refers to the value is the caller's.
func New[T any](value T) Of[T] {
	p := &value
	return Of[T]{&p}
}

// Reveal returns what is in the box, to be read or overwritten in place: that reaches all
// copies. It is nil for an empty box. It is no method, so that types that embed a box do
// not have it.
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
