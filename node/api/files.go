package api

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/fail"
)

func fileMedia() (out []string) {
	for _, f := range table.Forms() {
		out = append(out, f.Media)
	}
	return out
}

func (s *Server) files(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := s.routeQuery(r); err != nil {
		return err
	}
	_, d, err := s.LookupResult(r)
	if err != nil {
		return err
	}
	out := filesAnswer{Files: []fileAnswer{}}
	for _, f := range table.Files(d.Result) {
		path := strings.TrimSuffix(r.URL.Path, "/") + "/" + f.Name
		out.Files = append(out.Files, fileAnswer{Name: f.Name, Path: path, Media: f.Form.Media, Rows: f.Rows, Columns: list(f.Columns)})
	}
	return s.sendJSON(w, r, out)
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := s.routeQuery(r); err != nil {
		return err
	}
	_, d, err := s.LookupResult(r)
	if err != nil {
		return err
	}
	all := table.Files(d.Result)
	at := slices.IndexFunc(all, func(f table.File) bool { return f.Name == r.PathValue("file") })
	if at < 0 {
		return problem(fail.APINoFile.New(r.PathValue("file")))
	}
	s.unchanging(w, r, d.Statement.Document.Hash)
	if all[at].Large {
		w.Header().Set("Content-Disposition", `attachment; filename="`+all[at].Name+`"`)
		return s.stream(w, r, all[at].Form.Media, d.Statement.Document.Hash.String()[:24]+"-"+all[at].Name, all[at].Write)
	}
	var body bytes.Buffer
	if err := all[at].Write(&body); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+all[at].Name+`"`)
	s.Send(w, r, all[at].Form.Media, body.Bytes())
	return nil
}
