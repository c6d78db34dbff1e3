package fail

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// others returns the Windows numbers that correspond to one of POSIX.
func others(posix syscall.Errno) []syscall.Errno {
	switch posix {
	case syscall.EACCES:
		return []syscall.Errno{windows.ERROR_ACCESS_DENIED, windows.WSAEACCES}
	case syscall.ENOSPC:
		return []syscall.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL}
	case syscall.EDQUOT:
		return []syscall.Errno{windows.ERROR_DISK_QUOTA_EXCEEDED, windows.WSAEDQUOT}
	case syscall.EROFS:
		return []syscall.Errno{windows.ERROR_WRITE_PROTECT}
	case syscall.EIO:
		return []syscall.Errno{windows.ERROR_IO_DEVICE, windows.ERROR_CRC}
	case syscall.EADDRINUSE:
		return []syscall.Errno{windows.WSAEADDRINUSE}
	case syscall.EADDRNOTAVAIL:
		return []syscall.Errno{windows.WSAEADDRNOTAVAIL}
	case syscall.ECONNREFUSED:
		return []syscall.Errno{windows.WSAECONNREFUSED}
	case syscall.ECONNRESET:
		return []syscall.Errno{windows.WSAECONNRESET, windows.WSAECONNABORTED}
	}
	return nil
}
