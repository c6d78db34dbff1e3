// Package sniff says what a file seems to be that was given in the place of another, so
// that whoever swapped two files reads which.
package sniff

import (
	"bytes"
	"unicode/utf8"
)

// Kind says what a file is, as the rest of a sentence after "it is".
type Kind string

// The kinds of files that somebody writes for this program, and may take for each other.
const (
	Study      Kind = "a study file, which party study add and aggregator study host take in"
	Columns    Kind = "a column list, of which aggregator study draft drafts a study"
	Answers    Kind = "a file of answers, which party join --answers and aggregator invite --answers read"
	Party      Kind = "a party's site file, which party --config names"
	Aggregator Kind = "an aggregator's configuration, which aggregator --config names"
)

// HeadSize is how much of a file's beginning Describe wants to see.
const HeadSize = 4096

// tarMagic is where a tar archive says that it is one.
const tarMagic = 257

// form is how files of a kind begin.
type form struct {
	begins string
	kind   Kind
}

// beginnings are of whole files.
func beginnings() []form {
	return []form{
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

// lines are of the lines of a YAML file, before which there may be comments.
func lines() []form {
	return []form{
		{"cosketch: study/", Study},
		{"cosketch: columns/", Columns},
		{"cosketch: answers/", Answers},
		{"datasets:", Party},
		{"studies:", Party},
		{"listen:", Aggregator},
		{"limits:", Aggregator},
		{"analysis:", Aggregator},
		{"http:", Aggregator},
	}
}

// Known says what a file is whose beginning or whole is given; ok is false where it may be
// anything.
func Known(head []byte) (kind Kind, ok bool) {
	if len(head) >= tarMagic+5 && string(head[tarMagic:tarMagic+5]) == "ustar" {
		if bytes.Contains(head[:min(len(head), HeadSize)], []byte("cosketch-backup")) {
			return "a backup, of which advanced restore makes a state directory", true
		}
		return "a tar archive that is no node's backup", true
	}
	for _, b := range beginnings() {
		if bytes.HasPrefix(head, []byte(b.begins)) {
			return b.kind, true
		}
	}
	for line := range bytes.Lines(head) {
		for _, l := range lines() {
			if bytes.HasPrefix(line, []byte(l.begins)) {
				return l.kind, true
			}
		}
	}
	return "", false
}

// Describe says it of any file. Nothing of what is in the file is repeated.
func Describe(head []byte) Kind {
	kind, ok := Known(head)
	switch {
	case ok:
		return kind
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
