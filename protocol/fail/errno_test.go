package fail_test

import (
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/cosketch/cosketch/protocol/fail"
)

// The errors of this system are recognised, whatever their numbers.
func TestErrno(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, inUse := net.Listen("tcp", held.Addr().String())
	if !fail.Errno(inUse, syscall.EADDRINUSE) {
		t.Errorf("an address that is taken: %v", inUse)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", held.Addr().String()); !fail.Errno(err, syscall.ECONNRESET, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := net.Listen("tcp", "192.0.2.1:0"); !fail.Errno(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("an address of nobody: %v", err)
	}
	full := &os.PathError{Op: "write", Err: syscall.ENOSPC}
	if !fail.Errno(full, syscall.EDQUOT, syscall.ENOSPC) || fail.Errno(full, syscall.EROFS) || fail.Errno(io.EOF, syscall.EIO) || fail.Errno(nil, syscall.EIO) {
		t.Error("a full disk is taken for something else, or something else for it")
	}
}
