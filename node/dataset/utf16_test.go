package dataset

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/protocol/study"
)

func utf16Text(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func TestUTF16(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		for _, order := range []interface {
			binary.ByteOrder
			binary.AppendByteOrder
		}{binary.LittleEndian, binary.BigEndian} {
			var in io.Reader = strings.NewReader(utf16Text(text, order)[2:])
			if rapid.Bool().Draw(rt, "slowly") {
				in = iotest.OneByteReader(in)
			}
			got, err := io.ReadAll(&utf16Reader{from: in, order: order})
			if err != nil || string(got) != text {
				rt.Fatalf("%v: got %q, want %q", err, got, text)
			}
		}
	})
	for in, want := range map[string]string{"a\x00\x00\xd8b\x00": "a\xffb", "a\x00\x00\xd8": "a\xff", "a\x00b": "a\xff", "\x00\xdca\x00": "\xffa", "": ""} {
		if got, err := io.ReadAll(&utf16Reader{from: strings.NewReader(in), order: binary.LittleEndian}); err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	if _, err := io.ReadAll(&utf16Reader{from: iotest.ErrReader(io.ErrUnexpectedEOF), order: binary.LittleEndian}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// A byte order mark identifies UTF-16 and its byte order.
func TestReadUTF16(t *testing.T) {
	text := "id;Größe\r\nä1;1,5\r\nb;" + strings.Repeat(" ", sampleBytes) + "2\r\n"
	schema := Schema{ID: []string{"id"}, Bits: 12, MaxRecords: 10, Fields: []Field{{Name: "Größe", Kind: study.Numeric, Scale: bounds(t, 0, 4)}}}
	for name, content := range map[string]string{
		"little": utf16Text(text, binary.LittleEndian), "big": utf16Text(text, binary.BigEndian), "gzip": string(gzipped(t, utf16Text(text, binary.LittleEndian))),
	} {
		read, summary, err := readSource(Files(write(t, content)), schema, Options{})
		if err != nil || read.IDs[0] != "ä1" || len(read.IDs) != 2 || !strings.Contains(summary.Origins[0].Format, "UTF-16") {
			t.Errorf("%s: %v %v %v", name, err, read.IDs, summary.Origins)
		}
		if _, _, err := readSource(Source{Files: []string{write(t, content)}, CSV: Dialect{Encoding: Windows1252}}, schema, Options{}); err == nil || !strings.Contains(err.Error(), "text in UTF-16, and windows-1252 is fixed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	lone := "\xff\xfei\x00d\x00\n\x00\x00\xd8\n\x00"
	if _, _, err := readSource(Files(write(t, lone)), Schema{ID: []string{"id"}, Bits: 12, MaxRecords: 10}, Options{}); err == nil || !strings.Contains(err.Error(), `:2: column "id": not valid UTF-8`) {
		t.Error(err)
	}
}
