package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"
	"os"
)

// streamed is the input of a Stream; text reports whether its records are lines of text.
type streamed struct {
	input
	text bool
}

func (s streamed) lines() bool { return s.text }

// continuation begins every message of an Arrow stream.
const continuation = "\xff\xff\xff\xff"

// openStream detects the format of a stream from its first bytes.
func openStream(s *Stream, p *plan, fixed Dialect, options Options) (streamed, error) {
	from := bufio.NewReaderSize(s.From, sampleBytes)
	start, err := from.Peek(signatureBytes)
	if err != nil && err != io.EOF {
		return streamed{}, fileError(s.Name, cannotRead, err)
	}
	if bytes.HasPrefix(start, []byte("PAR1")) {
		return streamed{}, &Error{File: s.Name, Message: "a Parquet file cannot be read from a stream", Hint: "give the path of the file instead: its schema is at its end"}
	}
	if bytes.HasPrefix(start, []byte("ARROW1")) {
		file, ok := s.From.(*os.File)
		if info, err := file.Stat(); !ok || err != nil || !info.Mode().IsRegular() {
			return streamed{}, &Error{File: s.Name, Message: "an Arrow file cannot be read from a stream", Hint: "write the streaming format, or give the path of the file"}
		}
		in, err := openBatches(s.Name, file, s.Arrow, p)
		return streamed{in, false}, err
	}
	if bytes.HasPrefix(start, []byte(continuation)) {
		in, err := openBatches(s.Name, from, s.Arrow, p)
		return streamed{in, false}, err
	}
	t, err := newText(&file{path: path{name: s.Name}, f: io.NopCloser(from), hash: sha256.New(), program: true})
	if err != nil {
		return streamed{}, err
	}
	in, err := readCSV(t, 0, p, fixed, options)
	return streamed{in, true}, err
}
