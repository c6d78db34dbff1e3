package wire

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire/wirepb"
)

// Chunk carries one chunk of the sender's release.
type Chunk struct {
	Study  protocol.StudyID
	Sketch int // index in the study's sketches
	Index  int // index of the chunk in the sketch
	Data   []byte
}

// maxIndex bounds sketch and chunk numbers, so that they fit int everywhere.
const maxIndex = 1 << 30

// EncodeChunk encodes the request.
func EncodeChunk(c Chunk) []byte {
	return marshal(&wirepb.ChunkRequest{Study: c.Study[:], Sketch: uint32(c.Sketch), Index: uint32(c.Index), Data: c.Data})
}

// DecodeChunk decodes what EncodeChunk wrote.
func DecodeChunk(b []byte) (c Chunk, err error) {
	var m wirepb.ChunkRequest
	err = decode("chunk", b, &m, func() error {
		if m.GetSketch() > maxIndex || m.GetIndex() > maxIndex || len(m.GetData()) > protocol.ChunkSize {
			return fmt.Errorf("chunk %d of sketch %d, of %d bytes, is out of range", uint64(m.GetIndex())+1, uint64(m.GetSketch())+1, len(m.GetData()))
		}
		c.Sketch, c.Index, c.Data = int(m.GetSketch()), int(m.GetIndex()), m.GetData()
		c.Study, err = bytes32[protocol.StudyID]("study", m.GetStudy())
		return err
	})
	return c, err
}

// Progress says which chunks of a release have arrived.
type Progress struct {
	Missing  []int // per sketch, the first missing chunk
	Complete bool
}

// EncodeProgressRequest encodes a request for the progress of the sender's own release.
func EncodeProgressRequest(study protocol.StudyID) []byte {
	return marshal(&wirepb.ProgressRequest{Study: study[:]})
}

// DecodeProgressRequest decodes what EncodeProgressRequest wrote.
func DecodeProgressRequest(b []byte) (study protocol.StudyID, err error) {
	var m wirepb.ProgressRequest
	err = decode("progress request", b, &m, func() error {
		study, err = bytes32[protocol.StudyID]("study", m.GetStudy())
		return err
	})
	return study, err
}

// EncodeProgress encodes the reply.
func EncodeProgress(p Progress) []byte {
	m := &wirepb.ProgressReply{Complete: p.Complete}
	for _, i := range p.Missing {
		m.Missing = append(m.Missing, uint32(i))
	}
	return marshal(m)
}

// DecodeProgress decodes what EncodeProgress wrote.
func DecodeProgress(b []byte) (p Progress, err error) {
	var m wirepb.ProgressReply
	err = decode("progress", b, &m, func() error {
		p.Complete = m.GetComplete()
		for _, i := range m.GetMissing() {
			if i > maxIndex {
				return fmt.Errorf("chunk %d is out of range", uint64(i)+1)
			}
			p.Missing = append(p.Missing, int(i))
		}
		return nil
	})
	return p, err
}

// DocumentRequest asks for a piece of a result document.
type DocumentRequest struct {
	Study  protocol.StudyID
	Hash   protocol.Digest
	Offset int64
}

// EncodeDocumentRequest encodes the request.
func EncodeDocumentRequest(r DocumentRequest) []byte {
	return marshal(&wirepb.DocumentRequest{Study: r.Study[:], Hash: r.Hash[:], Offset: r.Offset})
}

// DecodeDocumentRequest decodes what EncodeDocumentRequest wrote.
func DecodeDocumentRequest(b []byte) (r DocumentRequest, err error) {
	var m wirepb.DocumentRequest
	err = decode("document request", b, &m, func() error {
		if r.Offset = m.GetOffset(); r.Offset < 0 {
			return fmt.Errorf("offset %d", r.Offset)
		}
		if r.Study, err = bytes32[protocol.StudyID]("study", m.GetStudy()); err != nil {
			return err
		}
		r.Hash, err = bytes32[protocol.Digest]("hash", m.GetHash())
		return err
	})
	return r, err
}

// EncodeDocumentReply encodes a piece of a document.
func EncodeDocumentReply(data []byte) []byte { return marshal(&wirepb.DocumentReply{Data: data}) }

// DecodeDocumentReply decodes what EncodeDocumentReply wrote.
func DecodeDocumentReply(b []byte) (data []byte, err error) {
	var m wirepb.DocumentReply
	err = decode("document", b, &m, func() error {
		data = m.GetData()
		return nil
	})
	return data, err
}

// Hello is a node's statement about itself.
type Hello struct {
	Now     protocol.Instant // its clock
	Version string           // of its program, at most maxVersion bytes
	Other   protocol.StudyID // zero, or another study that is hosted under the study's name
}

// HelloRequest asks for the Hello of a study's aggregator.
type HelloRequest struct {
	Study protocol.StudyID
	Name  string // of the study; may be empty
}

// Limits of hello, in bytes.
const (
	maxVersion = 128
	maxName    = 256 // 64 characters
)

// EncodeHelloRequest encodes the request.
func EncodeHelloRequest(q HelloRequest) []byte {
	return marshal(&wirepb.HelloRequest{Study: q.Study[:], Name: q.Name})
}

// DecodeHelloRequest decodes what EncodeHelloRequest wrote.
func DecodeHelloRequest(b []byte) (q HelloRequest, err error) {
	var m wirepb.HelloRequest
	err = decode("hello request", b, &m, func() error {
		if len(m.GetName()) > maxName {
			return fmt.Errorf("name of %d bytes, at most %d", len(m.GetName()), maxName)
		}
		q.Name = m.GetName()
		q.Study, err = bytes32[protocol.StudyID]("study", m.GetStudy())
		return err
	})
	return q, err
}

// EncodeHello encodes the reply; a version that is too long is cut.
func EncodeHello(h Hello) []byte {
	version := strings.ToValidUTF8(h.Version[:min(len(h.Version), maxVersion)], "")
	m := &wirepb.HelloReply{Now: int64(h.Now), Version: version}
	if h.Other != (protocol.StudyID{}) {
		m.Other = h.Other[:]
	}
	return marshal(m)
}

// DecodeHello decodes what EncodeHello wrote.
func DecodeHello(b []byte) (h Hello, err error) {
	var m wirepb.HelloReply
	err = decode("hello", b, &m, func() error {
		if len(m.GetVersion()) > maxVersion {
			return fmt.Errorf("version of %d bytes, at most %d", len(m.GetVersion()), maxVersion)
		}
		h = Hello{Now: protocol.Instant(m.GetNow()), Version: m.GetVersion()}
		if len(m.GetOther()) == 0 {
			return nil
		}
		h.Other, err = bytes32[protocol.StudyID]("other study", m.GetOther())
		return err
	})
	return h, err
}
