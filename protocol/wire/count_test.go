package wire_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

// messages returns all messages of wire.proto.
func messages(t *testing.T) (out []protoreflect.MessageDescriptor) {
	t.Helper()
	all := wirepb.File_wire_proto.Messages()
	for i := range all.Len() {
		out = append(out, all.Get(i))
	}
	if len(out) < 20 {
		t.Fatalf("%d messages", len(out))
	}
	return out
}

func fieldsOf(m protoreflect.MessageDescriptor) (out []protoreflect.FieldDescriptor) {
	for i := range m.Fields().Len() {
		out = append(out, m.Fields().Get(i))
	}
	return out
}

// element encodes one occurrence of a field, with the given bytes as its value.
func element(f protoreflect.FieldDescriptor, value []byte) []byte {
	switch f.Kind() {
	case protoreflect.BytesKind, protoreflect.StringKind, protoreflect.MessageKind:
		return protowire.AppendBytes(protowire.AppendTag(nil, f.Number(), protowire.BytesType), value)
	}
	return protowire.AppendVarint(protowire.AppendTag(nil, f.Number(), protowire.VarintType), 1)
}

// leastOf returns the minimal size of an element of a list in bytes, or 32.
func leastOf(f protoreflect.FieldDescriptor) int {
	switch f.Name() {
	case "texts":
		return 1232
	case "opened":
		return 64
	}
	return 32
}

// fullest returns a message whose lists have as many elements as allowed, each as small as allowed.
func fullest(m protoreflect.MessageDescriptor, most map[string]int) (out []byte) {
	for _, f := range fieldsOf(m) {
		var value []byte
		switch {
		case f.Message() != nil:
			value = fullest(f.Message(), most)
		case f.Name() == "chunks" || f.Parent().Name() == "Roster" || f.Name() == "firsts" || f.Name() == "releases" || leastOf(f) > 32 || f.Name() == "path":
			value = n(leastOf(f))
		default:
			value = n(1)
		}
		times := 1
		if f.IsList() {
			times = most[string(f.Parent().Name()+"."+f.Name())]
		}
		one := element(f, value)
		for range times {
			if len(out)+len(one) > wire.MaxMessage {
				break
			}
			out = append(out, one...)
		}
	}
	return out
}

// most returns the maximal length of every list, as in SPEC.md.
func most() map[string]int {
	return map[string]int{
		"PostRequest.envelopes": 256, "BoardReply.envelopes": 256,
		"First.sketches": study.MaxSketches, "First.data": study.MaxSketches,
		"Interim.firsts":   1000,
		"Roster.approvals": 1000, "Roster.faults": 1000, "Result.releases": 1000, "Result.per_party": 1000, "Stop.missing": 1000,
		"Accusations.against": 1000, "Accusation.evidence": 2, "Certificate.confirms": 1000, "Share.sealed": 63,
		"Envelope.texts": 999, "Envelope.path": 10, "WrongText.path": 10, "Complaint.wrong": 500, "Complaint.opened": 1000,
		"Confirm.published": 8, "Release.published": 8, "Release.sketches": study.MaxSketches, "ProgressReply.missing": study.MaxSketches,
		"ReleasedSketch.chunks": protocol.MaxPayload / 34, "ReleasedSketch.row_columns": 8,
	}
}

// Every repeated field is counted.
func TestEveryListIsBounded(t *testing.T) {
	left := most()
	for _, m := range messages(t) {
		for _, f := range fieldsOf(m) {
			name := string(m.Name() + "." + f.Name())
			want, bounded := left[name]
			delete(left, name)
			if f.IsMap() || f.IsList() != bounded {
				t.Errorf("%s: bounded: %t", name, bounded)
			}
			value := n(leastOf(f))
			if f.Message() != nil {
				value = nil
			}
			for times, refused := range map[int]bool{max(want, 1): false, max(want, 1) + 1: true} {
				err := wire.Count(bytes.Repeat(element(f, value), times), m)
				if (err != nil) != refused || refused && !strings.Contains(err.Error(), fmt.Sprintf("field %s is there more than %d times", f.Name(), max(want, 1))) {
					t.Errorf("%s, %d times: %v", name, times, err)
				}
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("no message has %v", left)
	}
}

// Packed numbers are counted like others.
func TestPackedNumbersAreCounted(t *testing.T) {
	for count, refused := range map[int]bool{study.MaxSketches: false, study.MaxSketches + 1: true, 4 << 20: true} {
		b := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), n(count))
		p, err := wire.DecodeProgress(b)
		if (err != nil) != refused || !refused && len(p.Missing) != count {
			t.Errorf("%d numbers: %v", count, err)
		}
	}
}

// amplifying yields encodings that are small on the wire and would be large in memory.
func amplifying(t *testing.T, yield func(what string, b []byte)) {
	t.Helper()
	const size = 1 << 20
	yield("8 MiB of two-byte envelopes", bytes.Repeat([]byte{0x0a, 0}, wire.MaxMessage/2))
	for _, m := range messages(t) {
		yield("fullest "+string(m.Name()), fullest(m, most()))
		for _, f := range fieldsOf(m) {
			for _, value := range [][]byte{nil, n(1), n(32)} {
				one := element(f, value)
				yield(fmt.Sprintf("%s.%s of %d bytes", m.Name(), f.Name(), len(value)), bytes.Repeat(one, size/len(one)))
			}
			for _, inner := range fieldsOf(m) {
				if f.Message() == nil || inner.Message() != nil {
					continue
				}
				one := element(inner, nil)
				body := bytes.Repeat(one, size/len(one))
				yield(fmt.Sprintf("%s.%s full of field %d", m.Name(), f.Name(), inner.Number()), element(f, body))
			}
		}
	}
	header := wirepb.File_wire_proto.Messages().ByName("ReleasedSketch").Fields().ByName("chunks")
	chunks := bytes.Repeat(element(header, n(32)), protocol.MaxPayload/34)
	yield("a header of all hashes", element(wirepb.File_wire_proto.Messages().ByName("Release").Fields().ByName("sketches"), chunks))
	for _, f := range forms() {
		yield("the sample of "+f.decoder, f.sample)
	}
}

// Whatever a message contains, decoding it takes no more memory than a small multiple of its size.
func TestDecodingIsNoAmplifier(t *testing.T) {
	all := forms()
	worst, at := 0.0, ""
	var before, after runtime.MemStats
	amplifying(t, func(what string, b []byte) {
		for _, f := range all {
			runtime.ReadMemStats(&before)
			f.decode(b)
			runtime.ReadMemStats(&after)
			took := after.TotalAlloc - before.TotalAlloc
			if took > wire.MemoryFactor*uint64(len(b))+wire.MemoryBase {
				t.Fatalf("%s: %s: %d bytes of memory for %d on the wire", f.decoder, what, took, len(b))
			}
			if factor := (float64(took) - wire.MemoryBase) / float64(len(b)+1); factor > worst {
				worst, at = factor, f.decoder+": "+what
			}
		}
	})
	t.Logf("at most %.1f bytes for one, beyond %d: %s", worst, wire.MemoryBase, at)
}
