package p2p

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// slice is how many bytes are read or written before the idle deadline is renewed.
const slice = 64 << 10

// pipe is a stream with deadlines that carries frames.
type pipe interface {
	io.ReadWriter
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// ErrTooLarge reports a frame larger than its limit. Its bytes were not read.
var ErrTooLarge = errors.New("frame exceeds its limit")

// framer reads and writes frames on one stream. Once a frame has begun, it must make progress
// within idle. Nothing may last beyond until.
type framer struct {
	pipe
	idle  time.Duration
	until time.Time
}

// soon returns the earlier of the idle deadline and the end of the call.
func (f *framer) soon() time.Time {
	if t := time.Now().Add(f.idle); t.Before(f.until) {
		return t
	}
	return f.until
}

// write sends head ‖ u32 length ‖ body.
func (f *framer) write(head, body []byte) error {
	buf := make([]byte, 0, len(head)+4+min(len(body), slice))
	buf = append(buf, head...)
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(body)))
	first := min(len(body), slice)
	buf = append(buf, body[:first]...)
	for body = body[first:]; ; {
		if err := f.SetWriteDeadline(f.soon()); err != nil {
			return err
		}
		if _, err := f.Write(buf); err != nil {
			return err
		}
		if len(body) == 0 {
			return nil
		}
		n := min(len(body), slice)
		buf, body = body[:n], body[n:]
	}
}

// readHead reads the first n bytes of a frame, for which it waits until the call's end.
func (f *framer) readHead(n int) ([]byte, error) {
	if err := f.SetReadDeadline(f.until); err != nil {
		return nil, err
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(f, head[:1]); err != nil {
		return nil, err
	}
	if err := f.SetReadDeadline(f.soon()); err != nil {
		return nil, err
	}
	_, err := io.ReadFull(f, head[1:])
	return head, err
}

// readBody reads a frame's body, whose length the frame announced. Memory grows with the bytes that
// arrive, to at most twice their number, since an announced length costs the sender nothing.
// reserve is called before each allocation.
func (f *framer) readBody(length []byte, limit int, reserve func(int) error) ([]byte, error) {
	size := binary.BigEndian.Uint32(length)
	if uint64(size) > uint64(limit) {
		return nil, fmt.Errorf("%d bytes, at most %d: %w", size, limit, ErrTooLarge)
	}
	n, body := int(size), []byte{}
	for len(body) < n {
		if len(body) == cap(body) {
			room := min(n, max(slice, 2*cap(body)))
			if err := reserve(room - cap(body)); err != nil {
				return nil, err
			}
			body = append(make([]byte, 0, room), body...)
		}
		if err := f.SetReadDeadline(f.soon()); err != nil {
			return nil, err
		}
		have := len(body)
		body = body[:min(have+slice, cap(body))]
		if _, err := io.ReadFull(f, body[have:]); err != nil {
			return nil, err
		}
	}
	return body, nil
}
