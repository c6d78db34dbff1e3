package console

import (
	"errors"
	"io/fs"
	"syscall"
)

// remedy is what to do about an error of the operating system's, which says what is wrong
// and no more; empty for others, whose makers know better.
func remedy(err error) string {
	switch {
	case isOneOf(err, syscall.ENOSPC, syscall.EDQUOT):
		return " (make room and run the same command again: what is stored is whole, and it goes on from there)"
	case errors.Is(err, syscall.EROFS):
		return " (make the disk writable, or name a place on another one, and run the same command again)"
	case errors.Is(err, syscall.EIO):
		return " (the disk fails, or is full: look into the system's log; fsck says whether what is stored is whole)"
	case errors.Is(err, fs.ErrPermission):
		return " (run it as the user whose files these are, or give them to this one)"
	}
	return ""
}
