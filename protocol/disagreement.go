package protocol

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Subject is something that the nodes of a study must agree on.
type Subject string

// The subjects.
const (
	OnVersion Subject = "version" // of the protocol or the software
	OnStudy   Subject = "study"   // the study file
	OnSeed    Subject = "seed"    // the seed and the messages that lead to it
)

// Disagreement is an error about two nodes that cannot both be right and cannot go on together. Its
// values are short forms of what each node holds, never secrets.
type Disagreement struct {
	On     Subject
	Who    string // the node that differs, by its name in the study
	From   string // the node that noticed, by its name
	What   string // the thing that differs, such as "meaning of the study file"
	Theirs string // its value at Who
	Ours   string // its value at From
	Do     string // what people can do about it
	Err    error  // the kind of error, for errors.Is; may be nil
}

func (d *Disagreement) Error() string {
	return fmt.Sprintf("%s disagrees with %s on the %s: %s %s against %s (%s)", d.Who, d.From, d.On, d.What, d.Theirs, d.Ours, d.Do)
}

// Fail returns the catalogue entry of the disagreement.
func (d *Disagreement) Fail() *fail.Error { return fail.Disagree.Fail().With(d.Do) }

func (d *Disagreement) Unwrap() error { return d.Err }

// Version is the prefix of the protocol's labels, and so of every signature and of the name of
// every call.
const Version = "cosketch/1"
