package pages

import "testing"

// Signing in stays on this server, whatever link led to the page.
func TestSigningInLeadsNowhereElse(t *testing.T) {
	for next, want := range map[string]string{
		"/": "/", "/studies/ab/audit?from=200": "/studies/ab/audit?from=200", "": "/", "studies": "/", "https://evil.example/": "/", "//evil.example": "/",
		`/\evil.example`: "/", "/\t/evil.example": "/", "/\n/evil.example": "/", "\t//evil.example": "/", "/\x7f/evil.example": "/", "/\u0085/evil.example": "/",
	} {
		if got := local(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}
