package sniff_test

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/sniff"
)

func TestDescribe(t *testing.T) {
	archive := func(name string) string {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for head, want := range map[string]string{
		"":                                       "empty",
		"cosketch bundle/1\n\x00\x01":            "a bundle",
		archive("cosketch-backup"):               "a backup",
		archive("letters/april.txt"):             "a tar archive",
		"\x1f\x8b\x08":                           "gzip",
		"cosketch: study/2\nname: x\n":           "a study file",
		"# What x has\ncosketch: columns/1\n":    "a column list",
		"# Site.\ndatasets:\n  d: {}\n":          "a party's site file",
		"listen: [/ip4/127.0.0.1/tcp/1]\n":       "an aggregator's configuration",
		"id,age\n1,2\n":                          "another text",
		"\x00\x01\x02":                           "another file",
		"{\"format\": 1}":                        "a JSON document",
		strings.Repeat("ä", sniff.HeadSize/2):    "another text",
		"x" + strings.Repeat("ä", 2047) + "\xc3": "another text", // a character cut in two
	} {
		if got := string(sniff.Describe([]byte(head))); !strings.HasPrefix(got, want) && !strings.Contains(got, want) {
			t.Errorf("%.40q is %q, want %q", head, got, want)
		}
	}
}
