package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/agree"
)

// MaxEnvelopes bounds the envelopes of one request or reply.
const MaxEnvelopes = 256

// Limits of releases.
const (
	maxSketches   = 16 // sketches of a study
	maxPublished  = 8  // row keys that a study can publish
	maxRowColumns = 8
	maxChunks     = protocol.MaxPayload / (2 + digestSize) // the most that fit into a header
)

const digestSize = 32

// list bounds a repeated field.
type list struct {
	most  int // elements
	least int // bytes of each, at least
}

// lists returns the bounds of a repeated field. They are checked before anything is decoded: an
// element of two bytes on the wire takes a hundred in memory.
func lists(field protoreflect.FullName) list {
	switch field.Parent().Name() + "." + field.Name() {
	case "PostRequest.envelopes", "BoardReply.envelopes":
		return list{most: MaxEnvelopes}
	case "Roster.approvals", "Roster.faults", "Interim.firsts", "Result.releases":
		return list{most: agree.MaxMembers, least: digestSize}
	case "Stop.missing":
		return list{most: agree.MaxMembers}
	case "Result.per_party", "Accusations.against", "Certificate.confirms":
		return list{most: agree.MaxMembers}
	case "Accusation.evidence":
		return list{most: 2}
	case "Share.sealed":
		return list{most: agree.MaxWhole - 1}
	case "Envelope.texts":
		return list{most: agree.MaxMembers - 1, least: agree.SealedSize}
	case "Envelope.path", "WrongText.path":
		return list{most: agree.Depth(agree.MaxMembers), least: digestSize}
	case "Complaint.wrong":
		return list{most: agree.MaxWrong}
	case "Complaint.opened":
		return list{most: agree.MaxMembers, least: 2 * digestSize}
	case "Confirm.published", "Release.published":
		return list{most: maxPublished}
	case "First.sketches", "First.data", "Release.sketches", "ProgressReply.missing":
		return list{most: maxSketches}
	case "ReleasedSketch.chunks":
		return list{most: maxChunks, least: digestSize}
	case "ReleasedSketch.row_columns":
		return list{most: maxRowColumns}
	}
	return list{most: 1}
}

var (
	errUnknownField = errors.New("unknown field: sent by a newer version?")
	errInvalid      = errors.New("not a valid message")
)

// count checks the fields of an encoding, and of the messages in it, without decoding them: every
// field must be known and of its type, and none may occur more often than its bound. It allocates
// nothing that grows with the encoding.
func count(b []byte, of protoreflect.MessageDescriptor) error {
	fields := of.Fields()
	times := make([]int, fields.Len())
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errInvalid
		}
		b = b[n:]
		f := fields.ByNumber(number)
		if f == nil {
			return errUnknownField
		}
		n = protowire.ConsumeFieldValue(number, kind, b)
		if n < 0 {
			return errInvalid
		}
		elements, err := countField(f, kind, b[:n])
		if err != nil {
			return err
		}
		b = b[n:]
		if times[f.Index()] += elements; times[f.Index()] > lists(f.FullName()).most {
			return fmt.Errorf("field %s is there more than %d times", f.Name(), lists(f.FullName()).most)
		}
	}
	return nil
}

// countField reads one occurrence of a field and returns its number of elements: lists of numbers
// may be packed.
func countField(f protoreflect.FieldDescriptor, kind protowire.Type, value []byte) (int, error) {
	switch {
	case kind == wireType(f) && kind == protowire.BytesType:
		inner, n := protowire.ConsumeBytes(value)
		if n < 0 {
			return 0, errInvalid
		}
		if f.Message() != nil {
			return 1, count(inner, f.Message())
		}
		if least := lists(f.FullName()).least; len(inner) < least {
			return 0, fmt.Errorf("field %s has %d bytes, at least %d are wanted", f.Name(), len(inner), least)
		}
		return 1, nil
	case kind == wireType(f):
		return 1, nil
	case kind == protowire.BytesType && f.IsList() && wireType(f) == protowire.VarintType:
		return countPacked(value)
	}
	return 0, errUnknownField // a field of another type counts as unknown
}

func countPacked(value []byte) (elements int, err error) {
	packed, n := protowire.ConsumeBytes(value)
	if n < 0 {
		return 0, errInvalid
	}
	for ; len(packed) > 0; elements++ {
		_, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return 0, errInvalid
		}
		packed = packed[n:]
	}
	return elements, nil
}

// wireType returns the wire type of a field. This protocol uses integers, flags, bytes, texts and
// messages.
func wireType(f protoreflect.FieldDescriptor) protowire.Type {
	switch f.Kind() {
	case protoreflect.BytesKind, protoreflect.StringKind, protoreflect.MessageKind:
		return protowire.BytesType
	}
	return protowire.VarintType
}
