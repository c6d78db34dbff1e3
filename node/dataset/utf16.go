package dataset

import (
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader converts UTF-16 to UTF-8. An unpaired surrogate becomes a byte that is not valid
// UTF-8, which is detected when values are read.
type utf16Reader struct {
	from  io.Reader
	order binary.ByteOrder
	raw   [4 << 10]byte
	held  int    // bytes of raw still to be decoded
	out   []byte // decoded but not yet read
	err   error
}

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		var n int
		n, u.err = u.from.Read(u.raw[u.held:])
		u.held += n
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// decode decodes what is there, except a character that may be incomplete.
func (u *utf16Reader) decode() {
	u.out = u.out[:0]
	at := 0
	for at+2 <= u.held {
		unit := rune(u.order.Uint16(u.raw[at:]))
		switch {
		case !utf16.IsSurrogate(unit):
			u.out = utf8.AppendRune(u.out, unit)
			at += 2
			continue
		case at+4 > u.held && u.err == nil:
			u.keep(at)
			return
		case at+4 <= u.held:
			if r := utf16.DecodeRune(unit, rune(u.order.Uint16(u.raw[at+2:]))); r != utf8.RuneError {
				u.out = utf8.AppendRune(u.out, r)
				at += 4
				continue
			}
		}
		u.out = append(u.out, 0xff)
		at += 2
	}
	if at < u.held && u.err != nil { // half a code unit at the end
		u.out = append(u.out, 0xff)
		at = u.held
	}
	u.keep(at)
}

func (u *utf16Reader) keep(from int) { u.held = copy(u.raw[:], u.raw[from:u.held]) }
