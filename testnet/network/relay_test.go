package network

import (
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRelay(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	r, err := NewRelay(t.Context(), listener.Addr().String())
	must(t, err)
	echoes := func() error {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Port())))
		must(t, err)
		defer c.Close()
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_, err = io.ReadFull(c, make([]byte, 1))
		return err
	}
	must(t, echoes())
	held, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Port())))
	must(t, err)
	defer held.Close()
	_, err = held.Write([]byte("x"))
	must(t, err)
	_, err = io.ReadFull(held, make([]byte, 1))
	must(t, err)
	r.Cut()
	if n, err := held.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("an open connection survived the cut")
	}
	if err := echoes(); err == nil {
		t.Error("a new connection came through the cut")
	}
	r.Restore()
	must(t, echoes())
	must(t, r.Close())
}
