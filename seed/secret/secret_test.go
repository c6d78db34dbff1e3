package secret

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// The secret consists of these bytes, in boxes of many types.
const text = "\xa0\xa1\xa2\xa3"

func raw() [4]byte { return [4]byte([]byte(text)) }

type inner struct {
	Bytes []byte
	Array [4]byte
	more  *[4]byte
}

// holder is a secret type as other packages define it.
type holder struct {
	name string
	box
}

type box = Of[[4]byte]

// boxes returns boxes with the secret, and types that embed one.
func boxes() map[string]any {
	array := raw()
	return map[string]any{
		"array":   New(raw()),
		"slice":   New(array[:]),
		"text":    New(text),
		"number":  New(uint32(0xa0a1a2a3)),
		"pointer": New(&array),
		"map":     New(map[string][4]byte{text: array}),
		"struct":  New(inner{array[:], array, &array}),
		"box":     New(New(raw())),
		"any":     New[any](raw()),
		"holder":  holder{"a", New(raw())},
	}
}

// around returns values that contain a value, some in which fmt calls its methods, and some in
// which it cannot.
func around(v any) map[string]any {
	return map[string]any{
		"itself": v, "pointer": &v, "slice": []any{v}, "array": [1]any{v}, "map": map[string]any{"k": v},
		"field": struct{ V any }{v}, "hidden field": struct{ v any }{v}, "hidden pointer": struct{ v *any }{&v},
		"hidden list": struct{ v []any }{[]any{v}}, "hidden map": struct{ v map[string]any }{map[string]any{"k": v}},
		"nested": struct{ a struct{ b any } }{struct{ b any }{v}},
	}
}

// structs returns structs that have boxes by their type, not in an interface, for which fmt uses
// other code.
func structs() []any {
	b, h := New(raw()), holder{"a", New(raw())}
	type hidden struct {
		b    box
		p    *box
		h    holder
		q    *holder
		list []box
		all  [2]box
		m    map[string]holder
	}
	type shown struct {
		B    box
		P    *box
		H    holder
		Q    *holder
		List []box
		All  [2]box
		M    map[string]holder
	}
	one := hidden{b, &b, h, &h, []box{b}, [2]box{b, b}, map[string]holder{"k": h}}
	two := shown{b, &b, h, &h, []box{b}, [2]box{b, b}, map[string]holder{"k": h}}
	type embedded struct{ holder }
	return []any{one, &one, two, &two, []hidden{one}, []shown{two}, embedded{h}, &embedded{h}, struct{ e embedded }{embedded{h}}, &b, &h}
}

var verbs = []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%#x", "%d", "%b", "%o", "%O", "%c", "%U", "%t", "%e", "%g", "%p", "%z", "%10.3v"}

// leaks are the forms in which the secret could be printed.
var leaks = []string{
	"a0a1a2a3", "A0A1A2A3", "a0 a1 a2", "A0 A1 A2", "160 161 162", "160,161,162", "0xa0, 0xa1", "2694947491", "10100000 10100001", "240 241 242",
	"U+00A0 U+00A1", "oKGiow", text, `\xa0\xa1`, `\ufffd\ufffd`,
}

func checkSilent(t *testing.T, what, out string) {
	t.Helper()
	for _, leak := range leaks {
		if strings.Contains(out, leak) {
			t.Errorf("%s gives %q", what, out)
		}
	}
}

func TestNothingPrints(t *testing.T) {
	for name, b := range boxes() {
		for where, v := range around(b) {
			for _, verb := range verbs {
				checkSilent(t, fmt.Sprintf("%s of %s in %s", verb, name, where), fmt.Sprintf(verb, v))
			}
			checkSilent(t, name+" in "+where, fmt.Sprint(v))
			checkSilent(t, "an error of "+name+" in "+where, fmt.Errorf("doing %v", v).Error())
		}
		for _, verb := range verbs {
			if out := fmt.Sprintf(verb, b); out != Text && verb != "%p" {
				t.Errorf("%s of %s prints %q", verb, name, out)
			}
		}
		if out := b.(fmt.Stringer).String(); out != Text {
			t.Errorf("the text of %s is %q", name, out)
		}
		if out := b.(fmt.GoStringer).GoString(); out != Text {
			t.Errorf("the Go text of %s is %q", name, out)
		}
	}
	for i, v := range structs() {
		for _, verb := range verbs {
			checkSilent(t, fmt.Sprintf("%s of struct %d", verb, i), fmt.Sprintf(verb, v))
		}
	}
	// The search finds a leak if there is one.
	for _, verb := range []string{"%v", "%x", "%#v"} {
		if out := fmt.Sprintf(verb, struct{ b [4]byte }{raw()}); !strings.Contains(out, leaks[0]) && !strings.Contains(out, leaks[4]) && !strings.Contains(out, leaks[6]) {
			t.Errorf("the search is blind: %q", out)
		}
	}
}

func TestNothingEncodes(t *testing.T) {
	for name, b := range boxes() {
		for how, encode := range map[string]func(any) ([]byte, error){
			"JSON": json.Marshal,
			"gob": func(v any) ([]byte, error) {
				var out bytes.Buffer
				return out.Bytes(), gob.NewEncoder(&out).Encode(v)
			},
			"text": func(v any) ([]byte, error) { return v.(encoding.TextMarshaler).MarshalText() },
		} {
			if out, err := encode(b); !errors.Is(err, ErrEncoded) || len(out) > 0 {
				t.Errorf("%s of %s: %q, %v", how, name, out, err)
			}
		}
		for where, v := range around(b) {
			out, _ := json.Marshal(v)
			checkSilent(t, "JSON of "+name+" in "+where, string(out))
			out, _ = xml.Marshal(v)
			checkSilent(t, "XML of "+name+" in "+where, string(out))
		}
	}
	for i, v := range structs() {
		var out bytes.Buffer
		gob.NewEncoder(&out).Encode(v)
		text, _ := json.Marshal(v)
		checkSilent(t, fmt.Sprintf("struct %d", i), out.String()+string(text))
	}
}

func TestNothingLogs(t *testing.T) {
	for _, handler := range []func(io.Writer) slog.Handler{
		func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		log := func(v any) string {
			var out bytes.Buffer
			logger := slog.New(handler(&out))
			logger.Info("x", "v", v, slog.Group("g", "v", v))
			logger.With("v", v).Error("x")
			return out.String()
		}
		for name, b := range boxes() {
			for where, v := range around(b) {
				checkSilent(t, "the log of "+name+" in "+where, log(v))
			}
		}
		for i, v := range structs() {
			checkSilent(t, fmt.Sprintf("the log of struct %d", i), log(v))
		}
	}
}

// Copies of a box share their content, so overwriting it affects all of them.
func TestReveal(t *testing.T) {
	b := New(raw())
	copied := holder{"a", b}
	if *Reveal(b) != raw() || Reveal(copied.box) != Reveal(b) {
		t.Error("a copy holds something else")
	}
	if clear(Reveal(b)[:]); *Reveal(copied.box) != [4]byte{} {
		t.Error("a secret that was overwritten lives on in a copy")
	}
	var empty holder
	if Reveal(empty.box) != nil || fmt.Sprint(empty) != Text {
		t.Errorf("the empty box: %v", empty)
	}
}
