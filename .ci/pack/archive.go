package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file in an archive, or a directory, which has no text.
type entry struct {
	text  []byte
	mode  int64
	owner int // user and group
	dir   bool
}

//go:embed files/README.txt
var readme string

// archive writes the download for use without a package manager: a tar.gz, or a zip for Windows.
func (m *maker) archive(name string, b built, share map[string][]byte) error {
	files := map[string]entry{
		"LICENSES-OF-MODULES.txt": {text: b.licences, mode: 0o644},
		"sbom.cdx.json":           {text: b.sbom, mode: 0o644},
		"README.txt":              {text: []byte(strings.ReplaceAll(readme, "VERSION", m.version)), mode: 0o644},
	}
	for _, kept := range []string{"LICENSE", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(m.source, kept))
		if err != nil {
			return err
		}
		files[kept] = entry{text: text, mode: 0o644}
	}
	for program, text := range b.programs {
		files[b.platform.file(program)] = entry{text: text, mode: 0o755}
	}
	for kept, text := range share {
		files["share/"+kept] = entry{text: text, mode: 0o644}
	}
	within := map[string]entry{}
	for kept, e := range files {
		within[name+"/"+kept] = e
	}
	if b.platform.os == "windows" {
		return write(filepath.Join(m.out, name+".zip"), func(w io.Writer) error { return zipped(w, within, m.time) })
	}
	return write(filepath.Join(m.out, name+".tar.gz"), func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		if err := tarred(z, within, m.time); err != nil {
			return err
		}
		return z.Close()
	})
}

// write creates a file, and calls fill to write it.
func write(name string, fill func(io.Writer) error) error {
	var text bytes.Buffer
	if err := fill(&text); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

// sorted adds the parent directories of files, and returns all names in order.
func sorted(files map[string]entry) []string {
	for name := range maps.Clone(files) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, found := files[dir]; !found {
				files[dir] = entry{mode: 0o755, dir: true}
			}
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// tarred writes a tar whose bytes depend only on the files and the time.
func tarred(w io.Writer, files map[string]entry, at time.Time) error {
	t := tar.NewWriter(w)
	for _, name := range sorted(files) {
		e := files[name]
		h := &tar.Header{Name: name, Mode: e.mode, Size: int64(len(e.text)), Typeflag: tar.TypeReg, ModTime: at, Uid: e.owner, Gid: e.owner, Format: tar.FormatUSTAR}
		if e.dir {
			h.Name, h.Typeflag = name+"/", tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.text); err != nil {
			return err
		}
	}
	return t.Close()
}

// zipped writes a zip whose bytes depend only on the files and the time.
func zipped(w io.Writer, files map[string]entry, at time.Time) error {
	z := zip.NewWriter(w)
	for _, name := range sorted(files) {
		e := files[name]
		if e.dir {
			continue
		}
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(e.mode))
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.text); err != nil {
			return err
		}
	}
	return z.Close()
}
