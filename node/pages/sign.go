package pages

import (
	"errors"
	"net/http"
	"strings"
	"unicode"

	"github.com/cosketch/cosketch/node/api"
)

// signView is the page on which a token is typed.
type signView struct {
	page
	Next, Failure string
	Key           string // from the link, instead of a token
}

func newSignView(next, failure, key string) signView {
	v := signView{page{Title: "Sign in", Headline: "These pages need a token.", Footer: footer, Trail: []crumb{{Text: "Sign in"}}}, local(next), failure, key}
	if key != "" {
		v.Headline = "Sign in here, once."
	}
	return v
}

// local returns a path of this server, and / for anything else. Browsers ignore control characters
// in an address and treat a backslash as a slash.
func local(next string) string {
	odd := strings.ContainsFunc(next, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
	if odd || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") {
		return "/"
	}
	return next
}

func (p *pages) signIn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	return p.show(w, r, "signin", newSignView(r.URL.Query().Get("next"), "", r.URL.Query().Get("key")))
}

func (p *pages) signedIn(w http.ResponseWriter, r *http.Request) error {
	err := p.server.SignIn(w, r)
	var problem *api.Problem
	if errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		w.Header().Set("Cache-Control", "no-store")
		return p.show(w, r, "signin", newSignView(r.PostForm.Get("next"), "Not signed in: "+problem.Detail+".", ""))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, local(r.PostForm.Get("next")), http.StatusSeeOther)
	return nil
}

func (p *pages) signOut(w http.ResponseWriter, r *http.Request) error {
	p.server.SignOut(w, r)
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
	return nil
}
