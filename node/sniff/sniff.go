// Package sniff says what a file seems to be that was given in the place of another, so
// that whoever swapped two files reads which.
package sniff

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// HeadSize is how much of a file's beginning Describe wants to see.
const HeadSize = 4096

// tarMagic is where a tar archive says that it is one.
const tarMagic = 257

// Study is what Known says of a study file.
const Study = "a study file"

// beginnings are what files begin with, and what they are then.
func beginnings() [][2]string {
	return [][2]string{
		{"cosketch bundle/", "a bundle, which import takes in"},
		{"-----BEGIN ", "a key, which stays where it is and is given to nobody"},
		{"SQLite format 3\x00", "a database"},
		{"\x1f\x8b", "compressed with gzip: unpack it first"},
		{"PK\x03\x04", "a zip archive: unpack it first"},
		{"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first"},
		{"\xfd7zXZ\x00", "compressed with xz: unpack it first"},
		{"age-encryption.org/", "encrypted with age: decrypt it first"},
		{"PAR1", "a Parquet file"},
		{"\x93NUMPY", "an array of NumPy's"},
		{"<", "a page or another HTML or XML file"},
	}
}

// lines are what a line of a YAML file begins with, before which there may be comments.
func lines() [][2]string {
	return [][2]string{
		{"cosketch: study/", Study},
		{"cosketch: columns/", "a column list, of which aggregator study new drafts a study"},
		{"datasets:", "a party's site file, which --config names"},
	}
}

// Known says what a file is that begins with these bytes, as the rest of a sentence after
// "it is"; ok is false where it may be anything.
func Known(head []byte) (what string, ok bool) {
	if len(head) >= tarMagic+5 && string(head[tarMagic:tarMagic+5]) == "ustar" {
		if bytes.Contains(head, []byte("cosketch-backup")) {
			return "a backup, of which restore makes a state directory", true
		}
		return "a tar archive that is no node's backup", true
	}
	for _, b := range beginnings() {
		if bytes.HasPrefix(head, []byte(b[0])) {
			return b[1], true
		}
	}
	for line := range strings.Lines(string(head)) {
		for _, l := range lines() {
			if strings.HasPrefix(line, l[0]) {
				return l[1], true
			}
		}
	}
	return "", false
}

// Describe says it of any file. Nothing of what is in the file is repeated.
func Describe(head []byte) string {
	what, ok := Known(head)
	switch {
	case ok:
		return what
	case len(head) == 0:
		return "empty"
	case bytes.HasPrefix(head, []byte("{")):
		return "a JSON document"
	case text(head):
		return "another text"
	}
	return "another file"
}

// text reports whether these bytes, of which the last character may be cut off, are text.
func text(head []byte) bool {
	if len(head) == HeadSize {
		head = head[:HeadSize-utf8.UTFMax]
		for len(head) > 0 && !utf8.RuneStart(head[len(head)-1]) {
			head = head[:len(head)-1]
		}
		head = head[:max(0, len(head)-1)]
	}
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}
