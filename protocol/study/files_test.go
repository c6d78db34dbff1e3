package study_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// file returns one of the study files of testdata: laboratories (vertical, no
// noise), registry (vertical, unit record), hospitals (horizontal, unit attribute), survey
// (horizontal, randomised response), wards (horizontal, unit record, moments and cells) or
// infirmaries (the same, masked).
func file(t testing.TB, name string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// edit replaces the only occurrence of old in source.
func edit(t testing.TB, source, old, replacement string) string {
	t.Helper()
	if n := strings.Count(source, old); n != 1 {
		t.Fatalf("the file has %q %d times, want once", old, n)
	}
	return strings.Replace(source, old, replacement, 1)
}

func parse(t testing.TB, source string) *study.Study {
	t.Helper()
	s, err := studyfile.Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
