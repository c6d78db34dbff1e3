package mapped

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// nameless creates a file that is deleted with its last handle.
func nameless(dir string) (*os.File, error) {
	made, err := os.CreateTemp(dir, "scratch-")
	if err != nil {
		return nil, err
	}
	name := made.Name()
	if err := made.Close(); err != nil {
		return nil, err
	}
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, os.NewSyscallError("CreateFile", err)
	}
	return os.NewFile(uintptr(handle), name), nil
}

// mapFile maps a file. The file is closed when the mapping ends, or before.
func mapFile(file *os.File, size int) ([]byte, unmap, error) {
	handle, err := windows.CreateFileMapping(windows.Handle(file.Fd()), nil, windows.PAGE_READWRITE, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, nil, os.NewSyscallError("CreateFileMapping", err)
	}
	at, err := windows.MapViewOfFile(handle, windows.FILE_MAP_WRITE, 0, 0, uintptr(size))
	if err != nil {
		windows.CloseHandle(handle)
		return nil, nil, os.NewSyscallError("MapViewOfFile", err)
	}
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
	return data, func() error {
		err := windows.UnmapViewOfFile(at)
		if closed := windows.CloseHandle(handle); err == nil {
			err = closed
		}
		return errors.Join(os.NewSyscallError("UnmapViewOfFile", err), file.Close())
	}, nil
}
