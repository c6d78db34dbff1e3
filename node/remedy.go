package node

import (
	"errors"
	"io/fs"
	"syscall"
)

// Remedy is what to do about an error of the operating system's, which says what is wrong
// and no more; empty for others, whose makers know better.
func Remedy(err error) string {
	switch DiskTrouble(err) {
	case diskFull:
		return " (make room and run the same command again: what is stored is whole, and it goes on from there)"
	case diskReadOnly:
		return " (make the disk writable, or name a place on another one, and run the same command again)"
	case diskFails:
		return " (the disk fails, or is full: look into the system's log; fsck says whether what is stored is whole)"
	}
	if errors.Is(err, fs.ErrPermission) {
		return " (run it as the user whose files these are, or give them to this one)"
	}
	return ""
}

// Mend is Remedy for whoever reads what a node says that tries again by itself.
func Mend(err error) string {
	switch DiskTrouble(err) {
	case diskFull:
		return " (make room; what is stored is whole)"
	case diskReadOnly:
		return " (make the disk writable)"
	}
	return Remedy(err)
}

// What can be wrong with a disk, as other nodes may know it.
const (
	diskFull     = "is full"
	diskReadOnly = "is read-only"
	diskFails    = "fails"
)

// DiskTrouble says what is wrong with a disk; empty where an error is of something else.
func DiskTrouble(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return diskFull
	case errors.Is(err, syscall.EROFS):
		return diskReadOnly
	case errors.Is(err, syscall.EIO):
		return diskFails
	}
	return ""
}
