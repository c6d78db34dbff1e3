package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compression names how a whole file is compressed; empty if it is not.
type compression string

const (
	byGzip compression = "gzip"
	byZstd compression = "zstd"
)

// text is the decompressed text of a CSV file, after any byte order mark.
type text struct {
	file        *file
	reader      *bufio.Reader
	zstd        *zstd.Decoder // or nil
	compression compression
	marked      bool
	utf16       bool // the file is UTF-16; Read returns UTF-8
}

const (
	hintUTF8  = "save the file as UTF-8"
	hintSheet = "save the sheet as CSV in UTF-8, or the workbook as .xlsx"
	// hintEncoding is the hint if the text is probably Windows-1252.
	hintEncoding = "save the file as UTF-8, or if it is windows-1252 say so: --encoding windows-1252, or csv: {encoding: windows-1252} in the site file"

	sampleBytes = 64 << 10
	// zstdWindow bounds the decoder's memory. zstd itself requires an option above 128 MiB.
	zstdWindow = 64 << 20
)

// signatureBytes is the length of the longest of signatures.
const signatureBytes = 16

// signatures are the first bytes of files that are not text or cannot be read as such.
var signatures = []struct{ prefix, message, hint string }{
	{"PK\x03\x04", "a workbook or archive, not text", "if it is a workbook let its name end in .xlsx"},
	{"\xd0\xcf\x11\xe0", "a workbook, not text", hintSheet},
	{"\xfd7zXZ", "compressed with xz", "decompress it, or use gzip or zstd"},
	{"\x1f\x8b", "compressed with gzip twice", "decompress it once"},
	{"PAR1", "a Parquet file, not text", "let its name end in .parquet"},
	{"SQLite format 3\x00", "an SQLite database, not text", "name it with party data add NAME FILE --query 'SELECT …'"},
}

// openText opens a CSV file. Its first bytes tell whether it is compressed.
func openText(p path) (*text, error) {
	f, err := openFile(p)
	if err != nil {
		return nil, err
	}
	return newText(f)
}

// newText reads a file, which then belongs to the text.
func newText(f *file) (*text, error) {
	t := &text{file: f, reader: bufio.NewReaderSize(f, sampleBytes)}
	if err := t.begin(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *text) begin() error {
	start, err := t.peek(signatureBytes)
	if err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		t.compression = byGzip
		z, err := gzip.NewReader(t.reader)
		if err != nil {
			return t.explain(err)
		}
		t.reader = bufio.NewReaderSize(z, sampleBytes)
	case bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")):
		t.compression = byZstd
		// With concurrency 1, decoding happens in the caller's goroutine.
		t.zstd, err = zstd.NewReader(t.reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return t.explain(err)
		}
		t.reader = bufio.NewReaderSize(t.zstd, sampleBytes)
	}
	if t.compression != "" || t.file.program {
		if start, err = t.peek(signatureBytes); err != nil {
			return err
		}
		if len(start) == 0 && t.file.program {
			return &Error{File: t.file.name, Message: "the program writes nothing", Hint: "it has to write CSV, with a first line of names, to standard output"}
		}
		if len(start) == 0 {
			return &Error{File: t.file.name, Message: "the file is empty"}
		}
	}
	for _, known := range signatures {
		if bytes.HasPrefix(start, []byte(known.prefix)) {
			return &Error{File: t.file.name, Message: known.message, Hint: known.hint}
		}
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		t.marked = true
		_, err = t.reader.Discard(3) // peeked at: cannot fail
	case bytes.HasPrefix(start, []byte("\xff\xfe")):
		err = t.decodeUTF16(binary.LittleEndian)
	case bytes.HasPrefix(start, []byte("\xfe\xff")):
		err = t.decodeUTF16(binary.BigEndian)
	}
	return err
}

// decodeUTF16 skips the byte order mark and converts what follows to UTF-8.
func (t *text) decodeUTF16(order binary.ByteOrder) error {
	_, err := t.reader.Discard(2) // peeked at: cannot fail
	t.utf16 = true
	t.reader = bufio.NewReaderSize(&utf16Reader{from: t.reader, order: order}, sampleBytes)
	return err
}

// peek returns the next n bytes, or fewer at the end, without consuming them.
func (t *text) peek(n int) ([]byte, error) {
	start, err := t.reader.Peek(n)
	if err != nil && err != io.EOF {
		return nil, t.explain(err)
	}
	return start, nil
}

// sample returns the beginning of the text, for detection only. Errors further on are found when
// the text is read.
func (t *text) sample() ([]byte, error) { return t.peek(sampleBytes) }

// Read implements io.Reader.
func (t *text) Read(p []byte) (int, error) {
	n, err := t.reader.Read(p)
	if err != nil && err != io.EOF {
		err = t.explain(err)
	}
	return n, err
}

// explain turns a decompressor's error into an *Error.
func (t *text) explain(err error) error {
	var known *Error
	switch {
	case errors.As(err, &known), t.compression == "": // of the file itself
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), t.compression == byGzip && errors.Is(err, io.EOF):
		return &Error{File: t.file.name, Message: "the " + string(t.compression) + " data end too early", Hint: "the file is not complete: copy it again", Err: io.ErrUnexpectedEOF}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &Error{File: t.file.name, Message: "the zstd data need a window of more than 64 MiB", Hint: "compress without --ultra or --long", Err: err}
	default:
		return &Error{File: t.file.name, Message: "the " + string(t.compression) + " data are damaged", Hint: "copy the file again", Err: err}
	}
}

func (t *text) Close() error {
	if t.zstd != nil {
		t.zstd.Close()
	}
	return t.file.Close()
}
