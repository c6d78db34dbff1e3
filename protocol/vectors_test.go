package protocol_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files of testdata/vectors are for other implementations; SPEC.md describes them. Each is a
// list of cases. The code computes all other fields from the given ones.
var update = flag.Bool("update", false, "write testdata/vectors anew")

const vectorDir = "testdata/vectors"

// hexed is a byte string, written in hexadecimal in the file.
type hexed []byte

func (h hexed) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

func (h *hexed) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func hexedOf(b [32]byte) hexed { return b[:] }

func (h hexed) array(t testing.TB) [32]byte {
	t.Helper()
	if len(h) != 32 {
		t.Fatalf("%x has %d bytes, want 32", []byte(h), len(h))
	}
	return [32]byte(h)
}

// vectors is one file.
type vectors interface {
	name() string
	test(t *testing.T)
}

// cases are the vectors of one kind. Given makes them, with the fields that are not computed from
// others; fill sets all other fields.
type cases[C any] struct {
	file  string
	about string
	given func(t *testing.T) []C
	fill  func(t *testing.T, c *C)
}

func (v cases[C]) name() string { return v.file + ".json" }

// document is the format of every file.
type document[C any] struct {
	About string `json:"about"`
	Cases []C    `json:"cases"`
}

func (v cases[C]) test(t *testing.T) {
	path := filepath.Join(vectorDir, v.name())
	if *update {
		v.write(t, path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var d document[C]
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(d.Cases) == 0 || d.About == "" {
		t.Fatalf("%s is empty", path)
	}
	for i := range d.Cases {
		want := encoded(t, d.Cases[i])
		v.fill(t, &d.Cases[i])
		if got := encoded(t, d.Cases[i]); got != want {
			t.Errorf("%s: case %d is now\n%s\nwant\n%s", path, i, got, want)
		}
	}
}

func (v cases[C]) write(t *testing.T, path string) {
	d := document[C]{About: v.about, Cases: v.given(t)}
	for i := range d.Cases {
		v.fill(t, &d.Cases[i])
	}
	if err := os.WriteFile(path, []byte(encoded(t, d)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every file of vectors holds what the code computes, and there are no other files.
func TestVectors(t *testing.T) {
	all := []vectors{
		identities(), transcripts(), trees(), envelopes(), statements(),
		studies(), keys(), welcomes(), labels(), rows(),
		values(), sketches(), joinedSketches(), clips(), sums(), masks(), calibrations(), responses(), runs(), bundles(),
		turns(), rosters(), complaints(), certificates(), sensitivities(), documents(),
	}
	var known []string
	for _, v := range all {
		known = append(known, v.name())
		t.Run(strings.TrimSuffix(v.name(), ".json"), v.test)
	}
	files, err := os.ReadDir(vectorDir)
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, f := range files {
		there = append(there, f.Name())
	}
	slices.Sort(known)
	if !slices.Equal(there, known) {
		t.Errorf("%s holds %q, want %q", vectorDir, there, known)
	}
}
