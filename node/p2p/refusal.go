package p2p

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Code says why a call was refused. Its value is the one on the wire.
type Code uint8

// The codes of protocol version 1.
const (
	CodeInternal     Code = 1 // the other side failed; it logged why
	CodeRefused      Code = 2 // not permitted to this caller, or not now
	CodeUnknownStudy Code = 3 // the other side has no such study
	CodeNotFound     Code = 4 // the study is known, but not what was asked for (yet)
	CodeConflict     Code = 5 // contradicts what is stored already
	CodeInvalid      Code = 6 // the request does not parse or is out of range
	CodeVersion      Code = 7 // the other side does not know this call
	CodeTooLarge     Code = 8 // the request exceeds the limit of its call
	CodeBusy         Code = 9 // too many calls at once; retry
)

// String names the code.
func (c Code) String() string {
	switch c {
	case CodeInternal:
		return "internal error"
	case CodeRefused:
		return "refused"
	case CodeUnknownStudy:
		return "unknown study"
	case CodeNotFound:
		return "not found"
	case CodeConflict:
		return "conflict"
	case CodeInvalid:
		return "invalid request"
	case CodeVersion:
		return "version"
	case CodeTooLarge:
		return "too large"
	case CodeBusy:
		return "busy"
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Refusal is the answer of a handler that refuses a call. Its message is sent to the caller, so
// handlers return one to explain themselves. Every other error of a handler is logged and sent as
// CodeInternal without its text.
type Refusal struct {
	Code    Code
	Message string // truncated to 512 bytes on the wire; may be empty
}

func Refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (r *Refusal) Error() string {
	if r.Message == "" {
		return r.Code.String()
	}
	return r.Code.String() + ": " + r.Message
}

func (r *Refusal) Fail() *fail.Error {
	switch r.Code {
	case CodeRefused:
		return fail.PeerRefuses.Fail()
	case CodeUnknownStudy:
		return fail.UnknownStudy.Fail()
	case CodeNotFound:
		return fail.PeerLacks.Fail()
	case CodeBusy:
		return fail.PeerBusy.Fail()
	case CodeConflict:
		return fail.PeerConflict.Fail()
	case CodeVersion:
		return fail.PeerVersion.Fail()
	case CodeInvalid, CodeTooLarge:
		return fail.PeerInvalid.Fail()
	}
	return fail.PeerFailed.Fail()
}

// Errors of Call besides *Refusal and the context's own.
var (
	// ErrUnreachable reports that no address of the peer could be connected to.
	ErrUnreachable error = fail.Unreachable

	// ErrRefusedPeer reports that the peer was reached but closed the connection before a first
	// answer, because it does not admit this node.
	ErrRefusedPeer error = fail.NotAdmitted

	// ErrInterrupted reports that the connection was lost during a call to a peer that had answered
	// before. The peer may have executed the call.
	ErrInterrupted error = fail.Interrupted
)

// maxMessage bounds a refusal's message in bytes.
const maxMessage = 512

// printable makes a message safe to show and log: one line of printable text of at most maxMessage
// bytes.
func printable(message string) string {
	message = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, message)
	if len(message) <= maxMessage {
		return message
	}
	message = message[:maxMessage]
	for !utf8.ValidString(message) {
		message = message[:len(message)-1]
	}
	return message
}
