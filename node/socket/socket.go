// Package socket explains why the system refuses to listen at an address, and what to do.
package socket

import (
	"errors"
	"io/fs"
	"net"
	"syscall"

	"github.com/cosketch/cosketch/protocol/fail"
)

// Refused explains why nothing can listen at an address. known is false if it has no better words
// than the system's.
func Refused(err error) (why string, known bool) {
	var unknown *net.DNSError
	switch {
	case fail.Errno(err, syscall.EADDRINUSE):
		return "address already in use: another program, or this node in another process, listens there; stop it or choose another address", true
	case fail.Errno(err, syscall.EADDRNOTAVAIL):
		return "this machine has no such address", true
	case errors.Is(err, fs.ErrPermission), fail.Errno(err, syscall.EACCES):
		return "ports below 1024 are not for this user: choose a higher one", true
	case errors.As(err, &unknown):
		return "this machine does not find the name " + unknown.Name, true
	}
	return "", false
}
