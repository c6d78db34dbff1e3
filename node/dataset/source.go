package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/cosketch/cosketch/protocol"
)

// source is the file: it hashes and counts what is read, and limits a record.
type source struct {
	path     string
	file     *os.File
	size     int64
	modified time.Time
	buffered *bufio.Reader // over the source, past a byte order mark

	hash      hash.Hash
	read      int64
	recordEnd int64 // the record in hand must end before this offset
	maxRecord int64
}

// errTooLong stops the reading of a record that uses up its allowance.
var errTooLong = errors.New("record too long")

const hintUTF8 = "save the file as UTF-8"

// signatures are beginnings of files that are not what Open reads.
var signatures = []struct{ prefix, message, hint string }{
	{"\xff\xfe", "text in UTF-16", hintUTF8},
	{"\xfe\xff", "text in UTF-16", hintUTF8},
	{"PK\x03\x04", "a workbook or archive, not text", "save the sheet as CSV in UTF-8"},
	{"\xd0\xcf\x11\xe0", "a workbook, not text", "save the sheet as CSV in UTF-8"},
	{"\x1f\x8b", "compressed with gzip", "decompress it first"},
	{"PAR1", "a Parquet file, not text", "export it as CSV"},
}

func openSource(path string, maxRecord int64) (*source, error) {
	s := &source{path: path, hash: sha256.New(), maxRecord: maxRecord}
	// Asking before opening: opening a pipe would wait for its writer.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.failure("no such file", err)
	case err != nil:
		return nil, s.failure("cannot be opened", err)
	case info.IsDir():
		return nil, &Error{File: path, Message: "a directory", Hint: "name the CSV file in it"}
	case !info.Mode().IsRegular():
		return nil, &Error{File: path, Message: "not a regular file", Hint: "data are read more than once: store them in a file"}
	case info.Size() == 0:
		return nil, &Error{File: path, Message: "the file is empty"}
	}
	s.size, s.modified = info.Size(), info.ModTime()
	if s.file, err = os.Open(path); err != nil {
		return nil, s.failure("cannot be opened", err)
	}
	if err := s.skipMark(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// skipMark starts reading and passes over the byte order mark of UTF-8.
func (s *source) skipMark() error {
	s.newRecord()
	s.buffered = bufio.NewReaderSize(s, 64<<10)
	start, err := s.buffered.Peek(4)
	if err != nil && err != io.EOF {
		return s.failure("cannot be read", err)
	}
	for _, known := range signatures {
		if bytes.HasPrefix(start, []byte(known.prefix)) {
			return &Error{File: s.path, Message: known.message, Hint: known.hint}
		}
	}
	if bytes.HasPrefix(start, []byte("\xef\xbb\xbf")) {
		_, err = s.buffered.Discard(3) // peeked at: cannot fail
		return err
	}
	return nil
}

// newRecord begins a new record's allowance. What is buffered already comes on top.
func (s *source) newRecord() { s.recordEnd = s.read + s.maxRecord }

// Read reads from the file, for the buffer only.
func (s *source) Read(p []byte) (int, error) {
	if s.read >= s.recordEnd {
		return 0, errTooLong
	}
	n, err := s.file.Read(p)
	s.hash.Write(p[:n])
	s.read += int64(n)
	return n, err
}

// Close closes the file.
func (s *source) Close() error { return s.file.Close() }

// unchanged reports a file that somebody wrote to since it was opened.
func (s *source) unchanged() error {
	info, err := s.file.Stat()
	if err != nil {
		return s.failure("cannot be read", err)
	}
	if info.Size() != s.size || s.read != s.size || !info.ModTime().Equal(s.modified) {
		return &Error{File: s.path, Message: "the file changed while it was read", Hint: "try again when its writer has finished"}
	}
	return nil
}

func (s *source) digest() protocol.Digest { return protocol.Digest(s.hash.Sum(nil)) }

// failure reports what the operating system said, without the path twice.
func (s *source) failure(message string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		message = fmt.Sprintf("%s: %v", message, err)
	}
	return &Error{File: s.path, Message: message, Err: err}
}
