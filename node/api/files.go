package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
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
		{".npy", npyMedia, table.Records},
	}
}

func fileMedia() []string {
	out := []string{textMedia}
	for _, f := range tableFormats() {
		out = append(out, f.media)
	}
	return out
}

// tableJSON writes a table as a list of objects. What is no number in JSON is null.
func tableJSON(w io.Writer, t analysis.Table) error {
	out := bufio.NewWriter(w)
	separator := "["
	object := map[string]any{}
	err := t.Each(func(row []any) error {
		for j, c := range t.Columns {
			value := row[j]
			if x, ok := value.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
				value = nil
			}
			object[c.Name] = value
		}
		body, err := json.Marshal(object)
		out.WriteString(separator)
		separator = ","
		out.Write(body)
		return err
	})
	if separator == "[" {
		out.WriteString(separator)
	}
	out.WriteString("]\n")
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing table %s as JSON: %w", t.Name, err)
	}
	return nil
}

// File is one file of a result.
type File struct {
	Name, Media string
	Rows        int
	Columns     []string
	large       bool // too large to be held in memory
	write       func(io.Writer) error
}

// Files lists the files of a result: each table in every format (that of the pairs as
// matrices, or an array for each dense table, instead of one array), each matrix, and the
// names of their rows.
func Files(r analysis.Result) []File {
	var out []File
	for _, t := range r.Tables() {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
		for _, f := range tableFormats() {
			if f.media == npyMedia && t.Name == analysis.NumbersTable { // those are the matrices
				continue
			}
			out = append(out, File{t.Name + f.extension, f.media, int(t.Len()), columns, t.More != nil, func(w io.Writer) error { return f.write(w, t) }})
		}
	}
	named := map[string]bool{}
	for _, m := range r.Matrices() {
		out = append(out, File{m.Name + ".npy", npyMedia, len(m.Rows), nil, false, func(w io.Writer) error { return table.NPY(w, m.Rows) }})
		if m.Names != nil && !named[m.Analysis] {
			named[m.Analysis] = true
			out = append(out, namesFile(m.Analysis, m.Names))
		}
	}
	for _, d := range r.DenseTables() {
		out = append(out, File{d.Name + "_pairs.npy", npyMedia, int(d.Pairs), slices.Concat(d.Fields, []string{"undefined"}), true, func(w io.Writer) error { return table.Dense(w, d.Dense) }},
			namesFile(d.Name, d.Names))
	}
	return out
}

func namesFile(analysis string, names []string) File {
	return File{analysis + "_names.txt", textMedia, len(names), nil, false, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(names, "\n")+"\n")
		return err
	}}
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
		return problem(fail.APINoFile.New(r.PathValue("file")))
	}
	s.unchanging(w, r, d.Statement.Document.Hash)
	if all[at].large {
		w.Header().Set("Content-Disposition", `attachment; filename="`+all[at].Name+`"`)
		return s.stream(w, r, all[at].Media, d.Statement.Document.Hash.String()[:24]+"-"+all[at].Name, all[at].write)
	}
	var body bytes.Buffer
	if err := all[at].write(&body); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+all[at].Name+`"`)
	s.Send(w, r, all[at].Media, body.Bytes())
	return nil
}
