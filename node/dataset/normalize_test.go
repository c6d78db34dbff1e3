package dataset

import (
	"testing"

	"golang.org/x/text/cases"
	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/protocol/study"
)

func caseFoldOnce(steps ...study.Normalization) string {
	s, _ := normalize("\u01f0", steps, cases.Fold())
	return s
}

func TestCaseFold(t *testing.T) {
	fold := cases.Fold()
	for in, want := range map[string]string{
		"STRASSE": "strasse", "Straße": "strasse", "ẞ": "ss",
		"ΣΊΣΥΦΟΣ": "σίσυφοσ", "ς": "σ", "İ": "i\u0307", "ﬁ": "fi",
	} {
		if got := caseFold(in, fold); got != want {
			t.Errorf("caseFold(%q) = %q, want %q", in, got, want)
		}
	}
	// The fast path for ASCII agrees with the general one.
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringMatching(`[\x00-\x7f]*`).Draw(rt, "s")
		if got, want := caseFold(s, fold), fold.String(s); got != want {
			rt.Fatalf("caseFold(%q) = %q, want %q", s, got, want)
		}
	})
}

// The fast path for ASCII agrees with the general one, for every order of the steps.
func TestAppendNormalized(t *testing.T) {
	fold := cases.Fold()
	steps := []study.Normalization{study.NormalizeNFC, study.NormalizeTrim, study.NormalizeCasefold, study.NormalizeDigits}
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.OneOf(rapid.StringMatching(`[\x00-\x7f]*`), rapid.StringMatching(`[ \tA-C0-9éß]*`)).Draw(rt, "id")
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(steps), 0, 4, rapid.ID).Draw(rt, "steps")
		want, _ := normalize(id, chosen, fold)
		got, ok := appendNormalized([]byte("before"), []byte(id), chosen, fold)
		if !ok || string(got) != "before"+want {
			rt.Fatalf("%q, %v: got %q, want %q", id, chosen, got, want)
		}
	})
	if _, ok := appendNormalized(nil, []byte("\xff"), steps, fold); ok {
		t.Error("invalid UTF-8 taken")
	}
}
