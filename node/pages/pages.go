package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/present"
)

//go:embed web
var web embed.FS

// pages serves the pages of a server.
type pages struct {
	server    *api.Server
	templates map[string]*template.Template // by the file that defines their content
	assets    map[string]asset              // by the name in their path
	names     map[string]string             // path of each asset
}

// asset is a file whose path contains its hash, so that browsers may cache it forever.
type asset struct {
	media string
	body  []byte
}

// Add adds the pages to a server.
func Add(server *api.Server) error {
	p := &pages{server: server, templates: map[string]*template.Template{}, assets: map[string]asset{}, names: map[string]string{}}
	if err := p.loadAssets(); err != nil {
		return fmt.Errorf("preparing pages: %w", err)
	}
	for _, name := range []string{"studies", "study", "result", "privacy", "audit", "signin", "problem"} {
		parsed, err := template.New("").Funcs(template.FuncMap{"asset": func(name string) string { return p.names[name] }}).ParseFS(web, "web/layout.html", "web/"+name+".html")
		if err != nil {
			return fmt.Errorf("preparing pages: %w", err)
		}
		p.templates[name] = parsed
	}
	const study = "/studies/{study}"
	for _, page := range []struct {
		pattern string
		scope   api.Scope
		show    func(http.ResponseWriter, *http.Request) error
	}{
		{"GET /{$}", api.StudiesRead, p.studies},
		{"GET " + study, api.StudiesRead, p.study},
		{"GET " + study + "/results/{document}", api.ResultsRead, p.result},
		{"GET " + study + "/privacy", api.StudiesRead, p.privacy},
		{"GET " + study + "/audit", api.StudiesRead, p.audit},
		{"GET /signin", "", p.signIn},
		{"POST /signin", "", p.signedIn},
		{"POST /signout", "", p.signOut},
		{"GET /assets/{asset}", "", p.asset},
		{"/", "", p.nothing},
	} {
		server.Page(page.pattern, page.scope, page.show, p.failed)
	}
	return nil
}

func (p *pages) loadAssets() error {
	style, err := present.Style()
	if err != nil {
		return err
	}
	for _, file := range []struct{ name, media string }{{"style.css", "text/css; charset=utf-8"}, {"live.js", "text/javascript; charset=utf-8"}, {"heat.js", "text/javascript; charset=utf-8"}, {"icon.svg", "image/svg+xml"}} {
		body, err := web.ReadFile("web/" + file.name)
		if err != nil {
			return err
		}
		if file.name == "style.css" {
			body = append([]byte(style), body...)
		}
		sum := sha256.Sum256(body)
		extension := path.Ext(file.name)
		name := strings.TrimSuffix(file.name, extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		p.assets[name], p.names[file.name] = asset{file.media, body}, "/assets/"+name
	}
	return nil
}

func (p *pages) asset(w http.ResponseWriter, r *http.Request) error {
	a, ok := p.assets[r.PathValue("asset")]
	if !ok {
		return api.ErrNotFound
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	p.server.Send(w, r, a.media, a.body)
	return nil
}

// nothing answers all other paths.
func (p *pages) nothing(http.ResponseWriter, *http.Request) error { return api.ErrNotFound }

// page is what all pages share; a page's own view embeds it.
type page struct {
	Title, Kicker, Headline, Footer string
	Trail                           []crumb // after the list of studies
	Events                          string  // path of the stream that triggers a reload; empty: none
	Poll                            int     // seconds between reloads; 0: never
	News                            string  // on pages that reload: the headline without the time left
	Script                          string  // the asset that the page runs besides live.js; empty: none
	SignedIn                        bool
}

// crumb is a step of the path to a page.
type crumb struct{ Path, Text string }

const footer = "Every number is an estimate from sketches. Its interval for these records covers projection and noise; the one for people like these also covers who is among the records. No page holds a record or a record id."

// show writes a page.
func (p *pages) show(w http.ResponseWriter, r *http.Request, name string, view any) error {
	var out bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&out, "layout", view); err != nil {
		return fmt.Errorf("writing page %s: %w", name, err)
	}
	p.server.Send(w, r, "text/html; charset=utf-8", out.Bytes())
	return nil
}

// words returns a problem's title and what to do about it, in words for people, which may differ
// from those for programs.
func words(r *http.Request, problem *api.Problem) (title, detail string) {
	detail = strings.ToUpper(problem.Detail[:min(1, len(problem.Detail))]) + problem.Detail[min(1, len(problem.Detail)):] + "."
	switch problem.Status {
	case http.StatusNotFound:
		if !strings.HasPrefix(r.URL.Path, "/studies/") {
			return "There is no such page", fmt.Sprintf("Nothing is at %s. The list of studies leads to every page.", r.URL.Path)
		}
		if strings.HasSuffix(r.URL.Path, "/results/current") {
			return "There is no result yet", detail
		}
		return "There is no such page", fmt.Sprintf("Nothing is at %s: no study of this aggregator has this id, or it has no such page or result. The list has every study.", r.URL.Path)
	case http.StatusForbidden:
		return "This token may not see this page", detail + " Sign out, and in again with another one."
	}
	return problem.Title, detail
}

// failed writes the page of an error. A reader without a token is asked for one.
func (p *pages) failed(w http.ResponseWriter, r *http.Request, problem *api.Problem) {
	if problem.Status == http.StatusUnauthorized && r.Method == http.MethodGet {
		http.Redirect(w, r, "/signin?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	title, detail := words(r, problem)
	view := struct {
		page
		Detail string
	}{page{Title: title, Headline: title + ".", Footer: footer, Trail: []crumb{{Text: "No page"}}, SignedIn: api.SignedIn(r)}, detail}
	var out bytes.Buffer
	if err := p.templates["problem"].ExecuteTemplate(&out, "layout", view); err != nil {
		http.Error(w, problem.Detail, problem.Status)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(problem.Status)
	w.Write(out.Bytes())
}
