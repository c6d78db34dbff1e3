package wire_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Every decoding function of the package is in forms, and so in every test and fuzz target that
// uses them.
func TestFormsAreAll(t *testing.T) {
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Decode") {
				want = append(want, f.Name.Name)
			}
		}
	}
	for _, f := range forms() {
		got = append(got, f.decoder)
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("tested are %q, the package has %q", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.decoder, func(t *testing.T) { rapid.Check(t, f.roundTrip) })
	}
}

// split splits an encoding into its fields, each with its tag.
func split(t testing.TB, b []byte) (fields [][]byte) {
	t.Helper()
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		fields = append(fields, b[:n])
		b = b[n:]
	}
	return fields
}

// loosen writes an encoding's fields last to first, with tags longer than necessary: the same
// message as another encoder might write it.
func loosen(t testing.TB, b []byte) (out []byte) {
	t.Helper()
	fields := split(t, b)
	number := func(f []byte) protowire.Number { n, _, _ := protowire.ConsumeTag(f); return n }
	// A list keeps its order.
	slices.SortStableFunc(fields, func(f, g []byte) int { return int(number(g)) - int(number(f)) })
	for _, f := range fields {
		_, _, n := protowire.ConsumeTag(f)
		if n != 1 {
			t.Fatalf("a tag of %d bytes", n)
		}
		out = append(out, f[0]|0x80, 0x80, 0x00)
		out = append(out, f[1:]...)
	}
	return out
}

// A carrier may re-encode a message in any way that protobuf allows.
func TestAnyEncodingOfAMessageIsRead(t *testing.T) {
	for _, f := range forms() {
		loose := loosen(t, f.sample)
		if f.decoder != "DecodeWithdraw" && f.decoder != "DecodeAbandon" && bytes.Equal(loose, f.sample) {
			t.Fatalf("%s: the encoding is the same", f.decoder)
		}
		if again, err := f.recode(loose); err != nil || !bytes.Equal(again, f.sample) {
			t.Errorf("%s: read as %x (%v), want %x", f.decoder, again, err, f.sample)
		}
	}
}

// Re-encoding changes neither an envelope's id nor its signature.
func TestCarriersDoNotChangeIDs(t *testing.T) {
	v := protocoltest.Sealed(signer(t).Seal(aStudy, protocol.KindConfirm, 1, []byte("payload")))
	for name, b := range map[string][]byte{
		"as encoded":   wire.EncodeEnvelope(v.Envelope()),
		"encoded anew": loosen(t, wire.EncodeEnvelope(v.Envelope())),
	} {
		e, err := wire.DecodeEnvelope(b)
		if err != nil {
			t.Fatal(err)
		}
		carried, err := protocol.Verify(e)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if carried.ID() != v.ID() {
			t.Errorf("%s: id %s, want %s", name, carried.ID(), v.ID())
		}
	}
}

// Absent and empty are the same on the wire; a field that may be empty is accepted.
func TestEmptyFields(t *testing.T) {
	e := protocoltest.Sealed(signer(t).Seal(aStudy, protocol.KindWithdraw, 0, nil)).Envelope()
	head := protocol.Head{Chain: protocol.Digest{1}, Signature: make([]byte, 64)}
	for decoder, b := range map[string][]byte{
		"DecodeEnvelope":      wire.EncodeEnvelope(e),
		"DecodeWithdraw":      nil,
		"DecodeRoster":        wire.EncodeRoster(protocol.Roster{}),
		"DecodeCommit":        wire.EncodeCommit(agree.Commit{}),
		"DecodeShare":         wire.EncodeShare(agree.Share{}),
		"DecodeRelease":       wire.EncodeRelease(protocol.Release{Records: 1}),
		"DecodeResult":        wire.EncodeResult(protocol.Result{}),
		"DecodeStop":          wire.EncodeStop(protocol.Stop{}),
		"DecodePost":          wire.EncodePost(nil),
		"DecodeBoardReply":    wire.EncodeBoardReply(wire.BoardReply{Head: head}),
		"DecodeHead":          wire.EncodeHead(head),
		"DecodeChunk":         wire.EncodeChunk(wire.Chunk{}),
		"DecodeProgress":      wire.EncodeProgress(wire.Progress{}),
		"DecodeHello":         wire.EncodeHello(wire.Hello{}),
		"DecodeDocumentReply": wire.EncodeDocumentReply(nil),
	} {
		if again, err := formNamed(decoder).recode(b); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: %x came back as %x, %v", decoder, b, again, err)
		}
	}
}

// A reason quotes errors with any bytes, at any length. It must not stop the node that gives it.
func TestStopReasons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := string(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "junk")) + rapid.String().Draw(t, "text")
		given = strings.Repeat(given, rapid.IntRange(0, 300).Draw(t, "times"))
		s, err := wire.DecodeStop(wire.EncodeStop(protocol.Stop{Reason: given}))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Reason) > 1000 || !utf8.ValidString(s.Reason) {
			t.Fatalf("a reason of %d bytes: %q", len(s.Reason), s.Reason)
		}
		if utf8.ValidString(given) {
			if !strings.HasPrefix(given, s.Reason) || len(given) <= 1000 && s.Reason != given || len(given) > 1000 && len(s.Reason) < 997 {
				t.Fatalf("%q became %q", given, s.Reason)
			}
		}
	})
}

// The largest study's messages take at most half of the limits of their kinds, so that there is
// room for other encodings.
func TestSizesAtMostMembers(t *testing.T) {
	n := agree.MaxMembers
	sealed := make([][]byte, agree.MaxWhole-1)
	for i := range sealed {
		sealed[i] = bytes.Repeat([]byte{0xff}, agree.SealedSize)
	}
	confirm := wire.EncodeConfirm(protocol.Confirm{Count: 1 << 63, Confirm: agree.Confirm{Published: make([][32]byte, 8)}})
	documents := slices.Repeat([]protocol.PartyDocument{{Party: peer(1), Document: protocol.Document{Size: 1 << 62}}}, n)
	wrong := slices.Repeat([]agree.Wrong{{From: n - 1, Text: agree.Text{Sealed: sealed[0], Path: make([][32]byte, agree.Depth(n))}}}, agree.MaxWrong)
	for kind, payload := range map[protocol.Kind][]byte{
		protocol.KindApprove:     wire.EncodeApprove(protocol.Approve{}),
		protocol.KindRoster:      wire.EncodeRoster(protocol.Roster{Approvals: make([]protocol.Digest, n), Faults: make([]protocol.Digest, n)}),
		protocol.KindCertificate: wire.EncodeCertificate(protocol.Certificate{Confirms: slices.Repeat([]protocol.Envelope{seal(t, protocol.KindConfirm, confirm)}, n)}),
		protocol.KindJoin:        wire.EncodeJoin(protocol.Join{EphemeralKey: make([]byte, 1216)}),
		protocol.KindWelcome:     wire.EncodeWelcome(protocol.Welcome{Sealed: make([]byte, agree.WelcomeSize)}),
		protocol.KindCommit:      wire.EncodeCommit(agree.Commit{EphemeralKey: make([]byte, 1216)}),
		protocol.KindShare:       wire.EncodeShare(agree.Share{Sealed: sealed}),
		protocol.KindConfirm:     confirm,
		protocol.KindJoined:      confirm,
		protocol.KindComplaint:   wire.EncodeComplaint(agree.Opening{Key: make([]byte, 32), Wrong: wrong}),
		protocol.KindResult:      wire.EncodeResult(protocol.Result{Count: 1 << 63, Releases: make([]protocol.Digest, n), PerParty: documents}),
		protocol.KindStop:        wire.EncodeStop(protocol.Stop{Reason: strings.Repeat("x", 2000), At: -1, Missing: make([]protocol.PeerID, n)}),
		protocol.KindClose:       wire.EncodeClose(protocol.Close{At: -1}),
	} {
		if most := kind.MaxPayload(); len(payload) > most*4/5 {
			t.Errorf("%s of %d members: %d bytes of %d", kind, n, len(payload), most)
		}
	}
	if share := wire.EncodeShare(agree.Share{Sealed: sealed}); len(share) < 63*1232 || len(share) > 63*(1232+3)+34 {
		t.Errorf("a share for 63 has %d bytes", len(share))
	}
}

// seal signs a payload of any kind.
func seal(t testing.TB, kind protocol.Kind, payload []byte) protocol.Envelope {
	t.Helper()
	attempt := uint32(1)
	if kind.PreAttempt() {
		attempt = 0
	}
	return protocoltest.Sealed(signer(t).Seal(aStudy, kind, attempt, payload)).Envelope()
}

// Whatever a sender puts into the messages of the agreement, the aggregator can show them to
// everybody, and a member can show all the confirmations that it has.
func TestWhatHoldsOthersMessagesCanBeRead(t *testing.T) {
	largest := func(kind protocol.Kind, n int) (out []protocol.Envelope) {
		for i := range n {
			out = append(out, seal(t, kind, bytes.Repeat([]byte{byte(i)}, kind.MaxPayload())))
		}
		return out
	}
	read := func(kind protocol.Kind, payload []byte, decode func([]byte) error) {
		t.Helper()
		e, err := wire.DecodeEnvelope(wire.EncodeEnvelope(seal(t, kind, payload)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := protocol.Verify(e); err != nil {
			t.Error(err)
		}
		if err := decode(e.Payload); err != nil {
			t.Error(err)
		}
	}
	accusations := func(b []byte) error { _, err := wire.DecodeAccusations(b); return err }
	for _, kind := range kinds {
		if !kind.Agreement() {
			continue
		}
		for cause, n := range map[protocol.Cause]int{protocol.CauseConflict: 2, protocol.CauseInvalid: 1, protocol.CauseDiffers: 1} {
			x := protocol.Accusations{At: -1, Against: []protocol.Accusation{{Culprit: signer(t).ID(), Cause: cause, Kind: kind, Evidence: largest(kind, n)}}}
			read(protocol.KindFault, wire.EncodeAccusations(x), accusations)
		}
	}
	var absent protocol.Accusations
	for i := range agree.MaxMembers {
		absent.Against = append(absent.Against, protocol.Accusation{Culprit: protocoltest.Identity(strconv.Itoa(i)).ID(), Cause: protocol.CauseMissing, Kind: protocol.KindConfirm})
	}
	slices.SortFunc(absent.Against, func(a, b protocol.Accusation) int { return a.Culprit.Compare(b.Culprit) })
	read(protocol.KindFault, wire.EncodeAccusations(absent), accusations)
	read(protocol.KindCertificate, wire.EncodeCertificate(protocol.Certificate{Confirms: largest(protocol.KindConfirm, agree.MaxMembers)}), func(b []byte) error {
		_, err := wire.DecodeCertificate(b)
		return err
	})
}

// Signing, decoding and verifying agree on the allowed sizes of every kind.
func TestOneOpinionOfSizes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(r, "kind")
		if !kind.Known() {
			return
		}
		size := rapid.OneOf(rapid.IntRange(0, protocol.MaxPayload+10), rapid.IntRange(kind.MaxPayload()-2, kind.MaxPayload()+2)).Draw(r, "size")
		e := protocol.Envelope{Study: aStudy, Sender: signer(t).ID(), Kind: kind, Attempt: 1, Payload: make([]byte, size)}
		if kind.PreAttempt() {
			e.Attempt = 0
		}
		e.Signature = ed25519.Sign(signerKey, e.Preimage())
		good := size <= kind.MaxPayload()
		_, sealing := signer(t).Seal(e.Study, kind, e.Attempt, e.Payload)
		_, decoding := wire.DecodeEnvelope(wire.EncodeEnvelope(e))
		_, verifying := protocol.Verify(e)
		for what, err := range map[string]error{"Seal": sealing, "DecodeEnvelope": decoding, "Verify": verifying} {
			if (err == nil) != good {
				r.Fatalf("%s with a payload of %d bytes, at most %d: %s says %v", kind, size, kind.MaxPayload(), what, err)
			}
		}
	})
}

// FuzzDecode gives every input to every decoder. None panics, and what one accepts it accepts again
// when encoded, to the same bytes.
func FuzzDecode(f *testing.F) {
	all := forms()
	for _, one := range all {
		f.Add(one.sample)
		f.Add(loosen(f, one.sample))
		f.Add(one.sample[:len(one.sample)/2])
	}
	for _, r := range refusals() {
		if len(r.bytes) < 4<<10 {
			f.Add(r.bytes)
		}
	}
	if len(all) == 0 || len(all[0].sample) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		for _, one := range all {
			once, err := one.recode(b)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "decoding ") || !utf8.ValidString(err.Error()) {
					t.Fatalf("%s: %q", one.decoder, err)
				}
				continue
			}
			twice, err := one.recode(once)
			if err != nil || !bytes.Equal(twice, once) {
				t.Fatalf("%s: %x, encoded as %x, came back as %x, %v", one.decoder, b, once, twice, err)
			}
		}
		if !bytes.Equal(b, before) {
			t.Fatal("a decoder wrote to its input")
		}
	})
}

// FuzzVerify handles what a peer sends up to the point where it is trusted. An envelope that
// verifies is the same message after encoding and decoding; any other is a fault of the sender that
// it names.
func FuzzVerify(f *testing.F) {
	s := signer(f)
	seeds := 0
	for _, kind := range kinds {
		attempt := uint32(1)
		if kind.PreAttempt() {
			attempt = 0
		}
		e := protocol.Envelope{Study: aStudy, Sender: s.ID(), Kind: kind, Attempt: attempt, Payload: []byte("payload")}
		e.Signature = ed25519.Sign(signerKey, e.Preimage()) // Seal refuses unknown kinds
		b := wire.EncodeEnvelope(e)
		f.Add(b)
		f.Add(loosen(f, b))
		seeds++
	}
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := wire.DecodeEnvelope(b)
		if err != nil {
			return
		}
		v, err := protocol.Verify(e)
		if err != nil {
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Culprit != e.Sender {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := wire.DecodeEnvelope(wire.EncodeEnvelope(v.Envelope()))
		if err != nil {
			t.Fatal(err)
		}
		if w, err := protocol.Verify(again); err != nil || w.ID() != v.ID() {
			t.Fatalf("%s became %s, %v", v.ID(), w.ID(), err)
		}
	})
}
