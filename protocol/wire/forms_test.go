package wire_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"reflect"
	"slices"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// A form is one kind of message on the wire, with its type erased.
type form struct {
	decoder   string                                   // name of its decoding function
	sample    []byte                                   // a valid encoding with every field set
	decode    func(b []byte)                           // decodes and discards
	recode    func(b []byte) (again []byte, err error) // decodes and encodes
	roundTrip func(t *rapid.T)                         // draws, encodes, decodes and compares
}

func formOf[M any](decoder string, sample M, encode func(M) []byte, decode func([]byte) (M, error), draw func(*rapid.T) M) form {
	return form{
		decoder: decoder,
		sample:  encode(sample),
		decode:  func(b []byte) { decode(b) },
		recode: func(b []byte) ([]byte, error) {
			m, err := decode(b)
			if err != nil {
				return nil, err
			}
			return encode(m), nil
		},
		roundTrip: func(t *rapid.T) {
			m := draw(t)
			b := encode(m)
			got, err := decode(b)
			if err != nil {
				t.Fatalf("decoding %+v: %v", m, err)
			}
			if !reflect.DeepEqual(got, m) {
				t.Fatalf("%+v came back as %+v", m, got)
			}
			if !bytes.Equal(encode(got), b) {
				t.Fatalf("%+v encodes differently the second time", m)
			}
		},
	}
}

// firstOf returns a first round of sketches with these data.
func firstOf(t2 protocol.Digest, records int64, data ...[]byte) protocol.First {
	f := protocol.First{T2: t2, Records: records, Data: data}
	for _, d := range data {
		f.Sketches = append(f.Sketches, protocol.ReleasedSketch{Side: sketch.Moments, Rows: 1, Cols: int64(len(d)), Width: 1, Chunks: []protocol.Digest{sha256.Sum256(d)}})
	}
	return f
}

// aStudy is the study of replies that do not name one.
var aStudy = protocol.StudyID{'s'}

// forms returns all messages. Their lists and byte fields are drawn with at least one element:
// absent and empty are the same on the wire, and TestEmptyFields covers them.
func forms() []form {
	d1, d2, d3 := protocol.Digest{1}, protocol.Digest{2}, protocol.Digest{3}
	return []form{
		formOf("DecodeEnvelope", anEnvelope(), wire.EncodeEnvelope, wire.DecodeEnvelope, drawEnvelope),
		formOf("DecodeApprove", protocol.Approve{Meaning: d1}, wire.EncodeApprove, wire.DecodeApprove, func(t *rapid.T) protocol.Approve {
			return protocol.Approve{Meaning: draw32[protocol.Digest](t, "meaning")}
		}),
		formOf("DecodeWithdraw", struct{}{}, func(struct{}) []byte { return nil }, func(b []byte) (struct{}, error) {
			return struct{}{}, wire.DecodeWithdraw(b)
		}, func(*rapid.T) struct{} { return struct{}{} }),
		formOf("DecodeRoster", protocol.Roster{Approvals: []protocol.Digest{d1, d2}, Faults: []protocol.Digest{d3}}, wire.EncodeRoster, wire.DecodeRoster, func(t *rapid.T) protocol.Roster {
			return protocol.Roster{
				Approvals: drawList(t, "approvals", 64, draw32[protocol.Digest]), Faults: drawList(t, "faults", 64, draw32[protocol.Digest]),
			}
		}),
		formOf("DecodeCommit", agree.Commit{EphemeralKey: []byte("key"), Commitment: d1}, wire.EncodeCommit, wire.DecodeCommit, func(t *rapid.T) agree.Commit {
			return agree.Commit{EphemeralKey: drawBytes(t, "key", 1500), Commitment: draw32[[32]byte](t, "commitment")}
		}),
		formOf("DecodeShare", agree.Share{T1: d1, Sealed: [][]byte{{1, 2}, {3}}}, wire.EncodeShare, wire.DecodeShare, func(t *rapid.T) agree.Share {
			if root := draw32[[32]byte](t, "root"); rapid.Bool().Draw(t, "apart") && root != [32]byte{} {
				return agree.Share{T1: draw32[[32]byte](t, "T1"), Root: root}
			}
			return agree.Share{T1: draw32[[32]byte](t, "T1"), Sealed: drawList(t, "sealed", 63, func(t *rapid.T, name string) []byte { return drawBytes(t, name, 50) })}
		}),
		formOf("DecodeConfirm", protocol.Confirm{Confirm: agree.Confirm{T1: d1, T2: d2, Tag: d3, Published: [][32]byte{d2}}, Count: 9, Chain: d1}, wire.EncodeConfirm, wire.DecodeConfirm, func(t *rapid.T) protocol.Confirm {
			return protocol.Confirm{
				Confirm: agree.Confirm{T1: draw32[[32]byte](t, "T1"), T2: draw32[[32]byte](t, "T2"), Tag: draw32[[32]byte](t, "tag"), Published: drawList(t, "published", 8, draw32[[32]byte])},
				Count:   rapid.Uint64().Draw(t, "count"), Chain: draw32[protocol.Digest](t, "chain"),
			}
		}),
		formOf("DecodeRelease", protocol.Release{T2: d1, Records: 569, Published: [][32]byte{d3, d2}, Sketches: []protocol.ReleasedSketch{
			{Side: sketch.Columns, Rows: 1024, Cols: 30, Width: 3, Chunks: []protocol.Digest{d2}},
			{Side: sketch.Records, Rows: protocol.ChunkSize, Cols: 1, Width: 2, Chunks: []protocol.Digest{d2, d3}},
			{Side: sketch.Records, Rows: 3, Cols: 1, Width: 2, Chunks: []protocol.Digest{d1}, RowColumns: []protocol.RowColumn{{Name: "pseudonym", Width: 16}}},
		}}, wire.EncodeRelease, wire.DecodeRelease, func(t *rapid.T) protocol.Release {
			return protocol.Release{
				T2: draw32[protocol.Digest](t, "T2"), Records: rapid.Int64Min(1).Draw(t, "records"),
				Sketches: drawList(t, "sketches", 3, drawSketch), Published: drawList(t, "published", 8, draw32[[32]byte]),
			}
		}),
		formOf("DecodeFirst", firstOf(d1, 569, []byte("one"), []byte("another")), wire.EncodeFirst, wire.DecodeFirst, func(t *rapid.T) protocol.First {
			return firstOf(draw32[protocol.Digest](t, "T2"), rapid.Int64Min(1).Draw(t, "records"), drawList(t, "data", 3, func(t *rapid.T, name string) []byte { return drawBytes(t, name, 50) })...)
		}),
		formOf("DecodeInterim", protocol.Interim{T2: d1, Firsts: []protocol.Digest{d2, d3}, Basis: protocol.Basis{Codebook: sketch.Codebook{
			Centre: []int64{1, -2}, Axes: [][]int64{{16384, 0}}, Codes: [][]int64{{-5}, {5}}, Radius: 9,
		}}}, wire.EncodeInterim, wire.DecodeInterim, func(t *rapid.T) protocol.Interim {
			d, q := rapid.IntRange(1, 5).Draw(t, "d"), rapid.IntRange(1, 3).Draw(t, "q")
			row := func(n int) func(*rapid.T, string) []int64 {
				return func(t *rapid.T, name string) []int64 {
					row := make([]int64, n)
					for i := range row {
						row[i] = int64(rapid.Int32().Draw(t, name))
					}
					return row
				}
			}
			out := protocol.Interim{T2: draw32[protocol.Digest](t, "T2"), Firsts: drawList(t, "firsts", 64, draw32[protocol.Digest])}
			if rapid.Bool().Draw(t, "of moments") {
				out.Clips = row(q)(t, "clips")
				out.Moves = drawList(t, "moves", 5, func(t *rapid.T, name string) sketch.Standard {
					return sketch.Standard{Centre: rapid.Int64().Draw(t, name), Spread: rapid.Int64().Draw(t, name)}
				})
				return out
			}
			out.Codebook = sketch.Codebook{Centre: row(d)(t, "centre"), Codes: drawList(t, "codes", 9, row(q)), Radius: rapid.Int64().Draw(t, "radius")}
			for range q {
				out.Codebook.Axes = append(out.Codebook.Axes, row(d)(t, "axis"))
			}
			return out
		}),
		formOf("DecodeResult", protocol.Result{
			Count: 9, Chain: d1, T2: d2, Releases: []protocol.Digest{d1, d3}, Document: protocol.Document{Hash: d2, Size: 1000},
			PerParty:  []protocol.PartyDocument{{Party: peer(1), Document: protocol.Document{Hash: d3, Size: 1}}},
			Completed: true, FirstOnly: true,
		}, wire.EncodeResult, wire.DecodeResult, func(t *rapid.T) protocol.Result {
			return protocol.Result{
				Count: rapid.Uint64().Draw(t, "count"), Chain: draw32[protocol.Digest](t, "chain"), T2: draw32[protocol.Digest](t, "T2"),
				Releases: drawList(t, "releases", 64, draw32[protocol.Digest]), Document: drawDocument(t, "document"),
				PerParty: drawList(t, "per party", 8, func(t *rapid.T, name string) protocol.PartyDocument {
					return protocol.PartyDocument{Party: drawPeer(t, name), Document: drawDocument(t, name)}
				}),
				Completed: rapid.Bool().Draw(t, "completed"), FirstOnly: rapid.Bool().Draw(t, "first only"),
			}
		}),
		formOf("DecodeComplaint", agree.Opening{Key: []byte("key"), Contribution: d1, Blinder: d2, Wrong: []agree.Wrong{{From: 999, Text: agree.Text{Sealed: []byte{1}, Path: [][32]byte{d1, d2}}}}}, wire.EncodeComplaint, wire.DecodeComplaint, func(t *rapid.T) agree.Opening {
			return agree.Opening{
				Key: drawBytes(t, "key", 100), Contribution: draw32[[32]byte](t, "contribution"), Blinder: draw32[[32]byte](t, "blinder"),
				Opened: drawList(t, "opened", 9, func(t *rapid.T, name string) (o agree.Opened) {
					copy(o[:], drawBytes(t, name, 64))
					return o
				}),
			}
		}),
		formOf("DecodeAccusations", protocol.Accusations{At: 1796144400, Against: someAccusations()}, wire.EncodeAccusations, wire.DecodeAccusations, func(t *rapid.T) protocol.Accusations {
			return protocol.Accusations{
				At:      protocol.Instant(rapid.Int64().Draw(t, "at")),
				Against: someAccusations()[rapid.IntRange(0, 3).Draw(t, "from"):],
			}
		}),
		formOf("DecodeAbandon", struct{}{}, func(struct{}) []byte { return wire.EncodeAbandon() }, func(b []byte) (struct{}, error) {
			return struct{}{}, wire.DecodeAbandon(b)
		}, func(*rapid.T) struct{} { return struct{}{} }),
		formOf("DecodeCertificate", protocol.Certificate{Confirms: []protocol.Envelope{anEnvelope()}}, wire.EncodeCertificate, wire.DecodeCertificate, func(t *rapid.T) protocol.Certificate {
			return protocol.Certificate{Confirms: drawList(t, "confirms", 3, func(t *rapid.T, _ string) protocol.Envelope { return drawEnvelope(t) })}
		}),
		formOf("DecodeJoin", protocol.Join{Meaning: d1, EphemeralKey: []byte("key")}, wire.EncodeJoin, wire.DecodeJoin, func(t *rapid.T) protocol.Join {
			return protocol.Join{Meaning: draw32[protocol.Digest](t, "meaning"), EphemeralKey: drawBytes(t, "key", 1500)}
		}),
		formOf("DecodeWelcome", protocol.Welcome{Join: d1, Sealed: []byte("sealed")}, wire.EncodeWelcome, wire.DecodeWelcome, func(t *rapid.T) protocol.Welcome {
			return protocol.Welcome{Join: draw32[protocol.Digest](t, "join"), Sealed: drawBytes(t, "sealed", 1500)}
		}),
		formOf("DecodeClose", protocol.Close{At: 1796144400}, wire.EncodeClose, wire.DecodeClose, func(t *rapid.T) protocol.Close {
			return protocol.Close{At: protocol.Instant(rapid.Int64().Draw(t, "at"))}
		}),
		formOf("DecodeStop", protocol.Stop{Reason: "the quorum is 2", At: 1796144400, Missing: []protocol.PeerID{peer(1), peer(2)}}, wire.EncodeStop, wire.DecodeStop, func(t *rapid.T) protocol.Stop {
			return protocol.Stop{
				Reason: rapid.StringN(0, -1, 1000).Draw(t, "reason"), At: protocol.Instant(rapid.Int64().Draw(t, "at")),
				Missing: drawList(t, "missing", 8, drawPeer),
			}
		}),
		formOf("DecodeLedgerHead", protocol.LedgerHead{Party: peer(1), Aggregator: peer(2), Count: 3, Hash: d1, Signature: make([]byte, 64), Countersignature: make([]byte, 64)},
			wire.EncodeLedgerHead, wire.DecodeLedgerHead, func(t *rapid.T) protocol.LedgerHead {
				signature := func(name string) []byte { return rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, name) }
				return protocol.LedgerHead{
					Party: drawPeer(t, "party"), Aggregator: drawPeer(t, "aggregator"), Count: rapid.Uint64Max(1<<62).Draw(t, "count"),
					Hash: draw32[protocol.Digest](t, "hash"), Signature: signature("signature"), Countersignature: signature("countersignature"),
				}
			}),
		formOf("DecodeIntroduce", wire.Introduce{Invitation: [4]byte{1}, Secret: [16]byte{2}, Introduction: []byte("cosketch: columns/1")}, wire.EncodeIntroduce, wire.DecodeIntroduce, func(t *rapid.T) wire.Introduce {
			return wire.Introduce{
				Invitation: [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "invitation")), Secret: [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "secret")),
				Introduction: drawBytes(t, "introduction", 100),
			}
		}),
		formOf("DecodePost", []protocol.Envelope{anEnvelope(), anEnvelope()}, wire.EncodePost, wire.DecodePost, func(t *rapid.T) []protocol.Envelope {
			return drawList(t, "envelopes", 3, func(t *rapid.T, _ string) protocol.Envelope { return drawEnvelope(t) })
		}),
		formOf("DecodeRead", wire.Read{Study: aStudy, From: 7, Wait: 30}, wire.EncodeRead, wire.DecodeRead, func(t *rapid.T) wire.Read {
			return wire.Read{Study: draw32[protocol.StudyID](t, "study"), From: rapid.Uint64().Draw(t, "from"), Wait: rapid.Uint32().Draw(t, "wait")}
		}),
		formOf("DecodeBoardReply", wire.BoardReply{From: 7, Envelopes: []protocol.Envelope{anEnvelope()}, Head: aHead()}, wire.EncodeBoardReply, func(b []byte) (wire.BoardReply, error) {
			return wire.DecodeBoardReply(b, aStudy)
		}, func(t *rapid.T) wire.BoardReply {
			return wire.BoardReply{
				From:      rapid.Uint64().Draw(t, "from"),
				Envelopes: drawList(t, "envelopes", 3, func(t *rapid.T, _ string) protocol.Envelope { return drawEnvelope(t) }),
				Head:      drawHead(t),
			}
		}),
		formOf("DecodeHead", aHead(), wire.EncodeHead, func(b []byte) (protocol.Head, error) { return wire.DecodeHead(b, aStudy) }, drawHead),
		formOf("DecodeChunk", wire.Chunk{Study: aStudy, Sketch: 1, Index: 2, Data: []byte("data")}, wire.EncodeChunk, wire.DecodeChunk, func(t *rapid.T) wire.Chunk {
			return wire.Chunk{
				Study: draw32[protocol.StudyID](t, "study"), Sketch: rapid.IntRange(0, 1<<30).Draw(t, "sketch"),
				Index: rapid.IntRange(0, 1<<30).Draw(t, "index"), Data: drawBytes(t, "data", 100),
			}
		}),
		formOf("DecodeProgressRequest", aStudy, wire.EncodeProgressRequest, wire.DecodeProgressRequest, func(t *rapid.T) protocol.StudyID {
			return draw32[protocol.StudyID](t, "study")
		}),
		formOf("DecodeProgress", wire.Progress{Missing: []int{0, 300}, Complete: true}, wire.EncodeProgress, wire.DecodeProgress, func(t *rapid.T) wire.Progress {
			return wire.Progress{
				Missing:  rapid.SliceOfN(rapid.IntRange(0, 1<<30), 1, 5).Draw(t, "missing"),
				Complete: rapid.Bool().Draw(t, "complete"),
			}
		}),
		formOf("DecodeHelloRequest", wire.HelloRequest{Study: aStudy, Name: "registry"}, wire.EncodeHelloRequest, wire.DecodeHelloRequest, func(t *rapid.T) wire.HelloRequest {
			return wire.HelloRequest{Study: draw32[protocol.StudyID](t, "study"), Name: rapid.StringN(0, 30, 120).Draw(t, "name")}
		}),
		formOf("DecodeHello", wire.Hello{Now: 1, Version: "v1.0.0 go1.26"}, wire.EncodeHello, wire.DecodeHello, func(t *rapid.T) wire.Hello {
			return wire.Hello{Now: protocol.Instant(rapid.Int64().Draw(t, "now")), Version: rapid.StringN(0, 30, 120).Draw(t, "version")}
		}),
		formOf("DecodeDocumentRequest", wire.DocumentRequest{Study: aStudy, Hash: d1, Offset: 1 << 40}, wire.EncodeDocumentRequest, wire.DecodeDocumentRequest, func(t *rapid.T) wire.DocumentRequest {
			return wire.DocumentRequest{
				Study: draw32[protocol.StudyID](t, "study"), Hash: draw32[protocol.Digest](t, "hash"),
				Offset: rapid.Int64Min(0).Draw(t, "offset"),
			}
		}),
		formOf("DecodeDocumentReply", []byte("{}"), wire.EncodeDocumentReply, wire.DecodeDocumentReply, func(t *rapid.T) []byte { return drawBytes(t, "data", 100) }),
	}
}

// someAccusations returns one of each cause, against ascending culprits.
func someAccusations() []protocol.Accusation {
	out := []protocol.Accusation{
		{Cause: protocol.CauseConflict, Kind: protocol.KindShare, Evidence: []protocol.Envelope{anEnvelope(), anEnvelope()}},
		{Cause: protocol.CauseInvalid, Kind: protocol.KindCommit, Evidence: []protocol.Envelope{anEnvelope()}},
		{Cause: protocol.CauseDiffers, Kind: protocol.KindConfirm, Evidence: []protocol.Envelope{anEnvelope()}},
		{Cause: protocol.CauseMissing, Kind: protocol.KindConfirm},
	}
	culprits := []protocol.PeerID{peer(1), peer(2), peer(3), peer(4)}
	slices.SortFunc(culprits, protocol.PeerID.Compare)
	for i := range out {
		out[i].Culprit = culprits[i]
	}
	return out
}

func draw32[T ~[32]byte](t *rapid.T, name string) T {
	return T(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, name))
}

func drawBytes(t *rapid.T, name string, most int) []byte {
	return rapid.SliceOfN(rapid.Byte(), 1, most).Draw(t, name)
}

func drawList[M any](t *rapid.T, name string, most int, draw func(*rapid.T, string) M) []M {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) M { return draw(t, "one of "+name) }), 1, most).Draw(t, name)
}

func peer(seed byte) protocol.PeerID {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))
	return protocol.PeerID(key.Public().(ed25519.PublicKey))
}

func anEnvelope() protocol.Envelope {
	return protocol.Envelope{
		Study: aStudy, Sender: peer(1), Kind: protocol.KindCommit, Attempt: 1, Payload: []byte("payload"),
		Signature: bytes.Repeat([]byte{0x55}, 64),
	}
}

func aHead() protocol.Head {
	return protocol.Head{Study: aStudy, Count: 300, Chain: protocol.Digest{4}, Signature: bytes.Repeat([]byte{0x55}, 64)}
}

func drawPeer(t *rapid.T, name string) protocol.PeerID { return peer(rapid.Byte().Draw(t, name)) }

var kinds = []protocol.Kind{
	protocol.KindApprove, protocol.KindWithdraw, protocol.KindRoster, protocol.KindCommit, protocol.KindShare,
	protocol.KindConfirm, protocol.KindRelease, protocol.KindResult, protocol.KindComplaint, protocol.KindFault, protocol.KindAbandon,
	protocol.KindCertificate, protocol.KindJoin, protocol.KindWelcome, protocol.KindJoined, protocol.KindStop, protocol.KindClose, "unknown",
}

func drawEnvelope(t *rapid.T) protocol.Envelope {
	return protocol.Envelope{
		Study: draw32[protocol.StudyID](t, "study"), Sender: drawPeer(t, "sender"), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		Attempt: rapid.Uint32().Draw(t, "attempt"), Payload: drawBytes(t, "payload", 100),
		Signature: rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "signature"),
	}
}

func drawHead(t *rapid.T) protocol.Head {
	return protocol.Head{
		Study: aStudy, Count: rapid.Uint64().Draw(t, "count"), Chain: draw32[protocol.Digest](t, "chain"),
		Signature: rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "signature"),
	}
}

func drawDocument(t *rapid.T, name string) protocol.Document {
	return protocol.Document{Hash: draw32[protocol.Digest](t, name+"'s hash"), Size: rapid.Int64Min(0).Draw(t, name+"'s size")}
}

func drawSketch(t *rapid.T, _ string) protocol.ReleasedSketch {
	s := protocol.ReleasedSketch{
		Side: rapid.SampledFrom([]sketch.Side{sketch.Columns, sketch.Records}).Draw(t, "side"),
		Rows: rapid.Int64Range(1, 3000).Draw(t, "rows"), Cols: rapid.Int64Range(1, 1000).Draw(t, "cols"),
		Width: rapid.IntRange(1, 8).Draw(t, "width"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "row columns") {
		s.RowColumns = append(s.RowColumns, protocol.RowColumn{
			Name: rapid.StringMatching(`[a-z]{1,32}`).Draw(t, "row column"), Width: rapid.IntRange(1, 64).Draw(t, "row column's width"),
		})
	}
	for done := int64(0); done < s.Size(); done += protocol.ChunkSize {
		s.Chunks = append(s.Chunks, draw32[protocol.Digest](t, "chunk"))
	}
	return s
}

func formNamed(decoder string) form {
	all := forms()
	return all[slices.IndexFunc(all, func(f form) bool { return f.decoder == decoder })]
}
