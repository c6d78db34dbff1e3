package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// format is a form of a result's tables or matrices.
type format struct {
	extension, media string
	write            func(io.Writer, analysis.Table) error
}

const (
	npyMedia  = "application/x-npy"
	textMedia = "text/plain; charset=utf-8"
)

// tableFormats are those of tables.
func tableFormats() []format {
	return []format{
		{".csv", "text/csv; charset=utf-8", table.CSV},
		{".parquet", "application/vnd.apache.parquet", table.Parquet},
		{".json", "application/json", tableJSON},
	}
}

func fileMedia() []string {
	out := []string{npyMedia, textMedia}
	for _, f := range tableFormats() {
		out = append(out, f.media)
	}
	return out
}

// tableJSON writes a table as a list of objects. What is no number in JSON is null.
func tableJSON(w io.Writer, t analysis.Table) error {
	rows := make([]map[string]any, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = map[string]any{}
		for j, c := range t.Columns {
			value := row[j]
			if x, ok := value.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
				value = nil
			}
			rows[i][c.Name] = value
		}
	}
	body, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("writing table %s as JSON: %w", t.Name, err)
	}
	_, err = w.Write(append(body, '\n'))
	return err
}

// File is one file of a result.
type File struct {
	Name, Media string
	Rows        int
	Columns     []string
	write       func(io.Writer) error
}

// Files lists the files of a result: each table in every format, each matrix, and the
// names of matrices' rows.
func Files(r analysis.Result) []File {
	var out []File
	for _, t := range r.Tables() {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
		for _, f := range tableFormats() {
			out = append(out, File{t.Name + f.extension, f.media, len(t.Rows), columns, func(w io.Writer) error { return f.write(w, t) }})
		}
	}
	named := map[string]bool{}
	for _, m := range r.Matrices() {
		out = append(out, File{m.Name + ".npy", npyMedia, len(m.Rows), nil, func(w io.Writer) error { return table.NPY(w, m.Rows) }})
		if m.Names != nil && !named[m.Analysis] {
			named[m.Analysis] = true
			out = append(out, File{m.Analysis + "_names.txt", textMedia, len(m.Names), nil, func(w io.Writer) error {
				_, err := io.WriteString(w, strings.Join(m.Names, "\n")+"\n")
				return err
			}})
		}
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
	for _, f := range Files(d.Result) {
		path := strings.TrimSuffix(r.URL.Path, "/") + "/" + f.Name
		out.Files = append(out.Files, fileAnswer{Name: f.Name, Path: path, Media: f.Media, Rows: f.Rows, Columns: list(f.Columns)})
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
	all := Files(d.Result)
	at := slices.IndexFunc(all, func(f File) bool { return f.Name == r.PathValue("file") })
	if at < 0 {
		return problem(http.StatusNotFound, "the result has no file %.80q: the list of files names those that it has", r.PathValue("file"))
	}
	var body bytes.Buffer
	if err := all[at].write(&body); err != nil {
		return err
	}
	s.unchanging(w, r, d.Statement.Document.Hash)
	w.Header().Set("Content-Disposition", `attachment; filename="`+all[at].Name+`"`)
	s.Send(w, r, all[at].Media, body.Bytes())
	return nil
}
