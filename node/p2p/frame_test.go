package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
)

// tape is a pipe whose other end has sent everything already.
type tape struct {
	io.Reader
	io.Writer
}

func (tape) SetReadDeadline(time.Time) error  { return nil }
func (tape) SetWriteDeadline(time.Time) error { return nil }

func framerOver(r io.Reader, w io.Writer) *framer {
	return &framer{pipe: tape{r, w}, idle: time.Minute, until: time.Now().Add(time.Hour)}
}

func TestFrameLayout(t *testing.T) {
	var out bytes.Buffer
	if err := framerOver(nil, &out).write([]byte{7}, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if want := []byte{7, 0, 0, 0, 3, 'a', 'b', 'c'}; !bytes.Equal(out.Bytes(), want) {
		t.Errorf("wrote %v, want %v", out.Bytes(), want)
	}
}

func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		sent string
		want string
		err  error
	}{
		"response":      {sent: "\x00\x00\x00\x00\x02hi", want: "hi"},
		"empty":         {sent: "\x00\x00\x00\x00\x00"},
		"nothing":       {sent: "", err: io.EOF},
		"half a head":   {sent: "\x00\x00", err: io.ErrUnexpectedEOF},
		"half a body":   {sent: "\x00\x00\x00\x00\x05hi", err: io.ErrUnexpectedEOF},
		"no body":       {sent: "\x00\x00\x00\x00\x05", err: io.EOF},
		"too large":     {sent: "\x00\x00\x00\x00\x0bhello there", err: ErrTooLarge},
		"largest":       {sent: "\x00\xff\xff\xff\xff", err: ErrTooLarge},
		"large refusal": {sent: "\x02\x00\x00\x02\x01", err: ErrTooLarge},
	} {
		got, err := readAnswer(framerOver(bytes.NewReader([]byte(c.sent)), nil), 10)
		if string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, c.want, c.err)
		}
	}
	_, err := readAnswer(framerOver(bytes.NewReader([]byte("\xc8\x00\x00\x00\x03a\nb")), nil), 1)
	if refusal := wantRefusal(t, err, 200); refusal.Error() != "code 200: a·b" {
		t.Errorf("unknown code: %v", refusal)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02hi"))
	f.Add([]byte("\x03\x00\x00\x00\x05study"))
	f.Add([]byte("\x09\x00\x00\x00\x02\xff\x1b"))
	f.Add([]byte("\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		body, err := readAnswer(framerOver(bytes.NewReader(sent), nil), 1000)
		var refusal *Refusal
		switch {
		case err == nil:
			want := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body)))
			if !bytes.HasPrefix(sent, append(want, body...)) {
				t.Errorf("%q was read as response %q", sent, body)
			}
		case errors.As(err, &refusal):
			if refusal.Code == 0 || printable(refusal.Message) != refusal.Message {
				t.Errorf("%q was read as %#v", sent, refusal)
			}
		}
	})
}

// A frame that stops half-way is abandoned after the idle time, not the call's.
func TestIdle(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	f := framer{pipe: near, idle: 10 * time.Millisecond, until: time.Now().Add(time.Hour)}
	go far.Write([]byte{0, 0})
	if _, err := f.readHead(5); !timedOut(err) {
		t.Errorf("half a head: %v", err)
	}
	go far.Write([]byte{1, 2, 3})
	if _, err := f.readBody([]byte{0, 0, 0, 9}, 10, func(int) error { return nil }); !timedOut(err) {
		t.Errorf("half a body: %v", err)
	}
	if err := f.write(nil, []byte("nobody reads this")); !timedOut(err) {
		t.Errorf("write: %v", err)
	}
}

func TestReserveFirst(t *testing.T) {
	full := errors.New("no memory")
	f := framerOver(bytes.NewReader(nil), nil)
	if _, err := f.readBody([]byte{0, 0, 0, 9}, 10, func(n int) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// A peer that sends more after its request, or stops in the middle of it, is cut off.
func TestMisbehavingCaller(t *testing.T) {
	server := start(t, 1, func(c *Config) {
		c.Listen = []string{tcpLoopback}
		c.Limits.Idle = 20 * time.Millisecond
	})
	server.Serve("wait", waitForEnd)
	client := start(t, 2, nil)
	server.Serve("echo", echo)
	if _, err := client.Call(patience(t), server.PeerID(), server.Addrs(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	id, err := toLibp2p(server.PeerID())
	if err != nil {
		t.Fatal(err)
	}
	for name, sent := range map[string][]byte{
		"talks on":      {0, 0, 0, 1, 'x', 'y'},
		"stops":         {0, 0, 0, 9, 'x'},
		"stops earlier": {0, 0},
	} {
		s, err := client.host.NewStream(network.WithNoDial(patience(t), ""), id, client.stream("wait"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(sent); err != nil {
			t.Fatal(err)
		}
		s.SetReadDeadline(time.Now().Add(20 * time.Second))
		if n, err := s.Read(make([]byte, 1)); n != 0 || timedOut(err) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
}
