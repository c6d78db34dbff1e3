// Package sniff recognises a file that was given in place of another, so that somebody who swapped
// two files is told which.
package sniff

import (
	"bytes"
	"unicode/utf8"
)

// Kind says what a file is, to follow "it is" in a sentence.
type Kind string

// The kinds of files that people write for this program, and may confuse.
const (
	Study      Kind = "a study file, which party study add and aggregator study host take in"
	Columns    Kind = "a column list, of which aggregator study draft drafts a study"
	Answers    Kind = "a file of answers, which party join --answers and aggregator invite --answers read"
	Party      Kind = "a party's site file, which party --config names"
	Aggregator Kind = "an aggregator's configuration, which aggregator --config names"
)

// HeadSize is how many of a file's first bytes Describe needs.
const HeadSize = 4096

// tarMagic is the offset of a tar archive's magic string.
const tarMagic = 257

// form is the beginning of files, or of lines in them, of a kind.
type form struct {
	begins string
	kind   Kind
}

// beginnings returns the beginnings of whole files.
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

// lines returns the beginnings of lines in YAML files, which may start with comments.
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

// Known returns the kind of a file from its first bytes or its whole content; ok is false if they
// do not determine it.
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

// Describe returns the kind of any file. It quotes nothing of the content.
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

// text reports whether these bytes are text; the last character may be cut off.
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
