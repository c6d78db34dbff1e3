package node

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/cosketch/cosketch/node/p2p"
)

// Remedy is what to do about an error of the operating system's, which says what is wrong
// and no more; empty for others, whose makers know better.
func Remedy(err error) string {
	switch diskTrouble(err) {
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

// mend is Remedy for whoever reads what a node says that tries again by itself.
func mend(err error) string {
	switch diskTrouble(err) {
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

// diskTrouble says what is wrong with a disk; empty where an error is of something else.
func diskTrouble(err error) string {
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

// sayAgain is how often the log repeats that nothing can be stored, in seconds.
const sayAgain = 300

// unstored is what a caller is told where nothing could be stored: it comes back for as
// long as it waits anyway. The log says it from time to time, and not at every call. Other
// errors stay as they are.
func (a *Aggregator) unstored(err error) error {
	var refusal *p2p.Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	if errors.Is(err, errGone) {
		return p2p.Refuse(p2p.CodeBusy, "the aggregator is about to take the study up again")
	}
	trouble := diskTrouble(err)
	if trouble == "" {
		return err
	}
	a.mu.Lock()
	news := a.Now() >= a.saidAgain
	if news {
		a.saidAgain = a.Now() + sayAgain
	}
	a.mu.Unlock()
	if news {
		a.Logger.Error("nothing can be stored; parties try again", "error", err.Error()+mend(err))
	}
	return p2p.Refuse(p2p.CodeBusy, "the aggregator's disk %s: its operator has to mend that", trouble)
}
