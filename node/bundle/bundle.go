package bundle

import (
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Label is the readable part of a bundle: its sender, recipient and study.
type Label struct {
	Study    protocol.StudyID
	From, To protocol.PeerID
}

// Errors that callers test for.
var (
	ErrNoBundle  error = fail.NotABundle
	ErrDamaged   error = fail.BundleDamaged
	ErrTruncated error = fail.BundleCutOff
	ErrElsewhere error = fail.BundleElsewhere
	ErrTooMuch   error = fail.BundleTooLarge
)

const (
	magic   = "cosketch bundle/1\n"
	info    = "cosketch/1/bundle"
	encSize = 1120    // bytes of an encapsulated key
	maxName = 32      // bytes of a part's name
	maxBody = 8 << 20 // bytes of a part
	maxPart = 2 + maxName + maxBody + 16
)

func (l Label) info() []byte {
	b := transcript.AppendField(nil, []byte(info))
	b = transcript.AppendField(b, l.Study[:])
	b = transcript.AppendField(b, l.From[:])
	return transcript.AppendField(b, l.To[:])
}

// Writer writes a bundle, which is complete only after Close.
type Writer struct {
	w    io.Writer
	seal *hpke.Sender
}

// Create begins a bundle, sealed to the recipient's MLKEM768-X25519 public key.
func Create(w io.Writer, l Label, key []byte) (*Writer, error) {
	public, err := hpke.MLKEM768X25519().NewPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("sealing to %s: %w", l.To, err)
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), l.info())
	if err != nil {
		return nil, fmt.Errorf("sealing to %s: %w", l.To, err)
	}
	head := []byte(magic)
	for _, field := range [][]byte{l.Study[:], l.From[:], l.To[:], enc} {
		head = append(head, field...)
	}
	if _, err := w.Write(head); err != nil {
		return nil, fmt.Errorf("writing the bundle: %w", err)
	}
	return &Writer{w, sender}, nil
}

// Add appends a part. Names have 1 to 32 bytes, bodies up to 8 MiB.
func (w *Writer) Add(name string, body []byte) error {
	if len(name) == 0 || len(name) > maxName || len(body) > maxBody {
		return fmt.Errorf("writing the bundle: part %q of %d bytes", name, len(body))
	}
	return w.part(0, name, body)
}

// Close ends the bundle. It does not close the underlying writer.
func (w *Writer) Close() error { return w.part(1, "", nil) }

func (w *Writer) part(flag byte, name string, body []byte) error {
	plain := append([]byte{flag, byte(len(name))}, name...)
	sealed, err := w.seal.Seal(nil, append(plain, body...))
	if err != nil {
		return fmt.Errorf("writing the bundle: %w", err)
	}
	length := binary.BigEndian.AppendUint32(nil, uint32(len(sealed)))
	if _, err := w.w.Write(append(length, sealed...)); err != nil {
		return fmt.Errorf("writing the bundle: %w", err)
	}
	return nil
}

// ReadLabel reads the beginning of a bundle. The label is not authenticated.
func ReadLabel(r io.Reader) (Label, error) {
	var l Label
	head := make([]byte, len(magic)+len(l.Study)+len(l.From)+len(l.To))
	n, err := io.ReadFull(r, head)
	if version, ok := otherVersion(head); ok {
		return Label{}, fmt.Errorf("reading the bundle: %w", &protocol.Disagreement{
			On: protocol.OnVersion, Who: "whoever wrote it", From: "this program", What: "bundle format", Theirs: version,
			Ours: strings.TrimSpace(magic), Do: "run the same version of the software at both",
		})
	}
	switch begins := string(head[:len(magic)]) == magic; {
	case begins && err != nil:
		return Label{}, fmt.Errorf("reading the bundle: %w", ErrTruncated)
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return Label{}, fmt.Errorf("reading the bundle: %w", err)
	case !begins:
		return Label{}, fmt.Errorf("reading the bundle: %w", fail.NotABundle.Of(fmt.Errorf("it is %s", described(head[:n], r))))
	}
	rest := head[len(magic):]
	rest = rest[copy(l.Study[:], rest):]
	rest = rest[copy(l.From[:], rest):]
	copy(l.To[:], rest)
	return l, nil
}

// described says what kind of file it is, from its beginning.
func described(head []byte, rest io.Reader) sniff.Kind {
	more, err := io.ReadAll(io.LimitReader(rest, int64(sniff.HeadSize-len(head))))
	if err != nil {
		more = nil
	}
	return sniff.Describe(append(head, more...))
}

// otherVersion finds a first line that differs from magic only in its version number.
func otherVersion(head []byte) (line string, ok bool) {
	const number = len("cosketch bundle/")
	digits, _, whole := strings.Cut(string(head[number:]), "\n")
	_, err := strconv.ParseUint(digits, 10, 16)
	line = string(head[:number]) + digits
	return line, whole && err == nil && string(head[:number]) == magic[:number] && line+"\n" != magic
}

// Reader reads a bundle.
type Reader struct {
	r     io.Reader
	open  *hpke.Recipient
	ended bool
}

// Open continues after ReadLabel, with the recipient's key.
func Open(r io.Reader, l Label, key hpke.PrivateKey) (*Reader, error) {
	enc := make([]byte, encSize)
	if _, err := io.ReadFull(r, enc); err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", ErrTruncated)
	}
	recipient, err := hpke.NewRecipient(enc, key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), l.info())
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w: %w", ErrDamaged, err)
	}
	return &Reader{r: r, open: recipient}, nil
}

// Next returns the next part, or io.EOF after the last. Without io.EOF the bundle is incomplete.
func (r *Reader) Next() (name string, body []byte, err error) {
	name, body, err = r.next()
	if err != nil && err != io.EOF {
		err = fmt.Errorf("reading the bundle: %w", err)
	}
	return name, body, err
}

func (r *Reader) next() (string, []byte, error) {
	if r.ended {
		return "", nil, io.EOF
	}
	var length [4]byte
	if _, err := io.ReadFull(r.r, length[:]); err != nil {
		return "", nil, ErrTruncated
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxPart {
		return "", nil, ErrDamaged
	}
	sealed := make([]byte, n)
	if _, err := io.ReadFull(r.r, sealed); err != nil {
		return "", nil, ErrTruncated
	}
	plain, err := r.open.Open(nil, sealed)
	if err != nil || len(plain) < 2 || len(plain) < 2+int(plain[1]) {
		return "", nil, ErrDamaged
	}
	name, body := string(plain[2:2+int(plain[1])]), plain[2+int(plain[1]):]
	if plain[0] == 0 {
		return name, body, nil
	}
	if plain[0] != 1 || name != "" || len(body) > 0 {
		return "", nil, ErrDamaged
	}
	if n, err := r.r.Read(length[:1]); n > 0 || err == nil {
		return "", nil, fmt.Errorf("%w: bytes after its end", ErrDamaged)
	}
	r.ended = true
	return "", nil, io.EOF
}
