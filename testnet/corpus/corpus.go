// Package corpus reads public data sets from a folder that the user names. They are too large to
// embed, or may not be redistributed. Sources lists the layout of the folder; each file is as its
// archive publishes it. Its SHA-256 is checked before it is read.
package corpus

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that names the folder if no option does.
const Variable = "COSKETCH_DATA"

// ErrNone is returned if no folder was named.
var ErrNone = errors.New("no folder of data sets: name one with --data or " + Variable + ", laid out as research/docs/data.md says")

// Corpus is a folder of data sets.
type Corpus struct{ dir string }

// Open opens the folder dir. If dir is empty, it opens the folder that the environment's Variable
// names. It returns ErrNone if neither names one.
func Open(dir string, getenv func(string) string) (Corpus, error) {
	if dir == "" {
		dir = getenv(Variable)
	}
	if dir == "" {
		return Corpus{}, ErrNone
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return Corpus{}, fmt.Errorf("opening the data sets: %w", err)
	case !info.IsDir():
		return Corpus{}, fmt.Errorf("opening the data sets: %s is not a folder", dir)
	}
	return Corpus{dir}, nil
}

// Source is one file of the folder.
type Source struct {
	Path   string // relative to the folder
	SHA256 string
	From   string // who publishes it, and its terms of use
}

// Terms of use, as the archives state them.
const (
	uci  = "UCI Machine Learning Repository, CC BY 4.0"
	fimi = "FIMI repository (T. Brijs), research use with citation"
)

// Sources lists every file that a corpus may have. To read a data set, only its own files are
// needed.
func Sources() []Source {
	return []Source{
		{"adult/adult.data.gz", "6c2f76a932b85b847443bdc0c7f707ef4d330fef843779bc4002911e97f66c63", uci + "; adult.data, compressed by gzip"},
		{"diabetes130/dataset_diabetes.zip", "3a17a3b55b6dd4a1926703185c0ad8e2ed30bc8e2f9b927cdd1000b733d1de8e", uci},
		{"heart/processed.cleveland.data", "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8", uci},
		{"heart/processed.hungarian.data", "d1ad108f785768cd3d7e82dc522e6f5a61eea93cccfb3a46ee8076f73fc3d796", uci},
		{"heart/processed.switzerland.data", "834a405ccf5b66ab4056bb77794adc8df0b7125186454c0a1d002d33c6c3b314", uci},
		{"heart/processed.va.data", "e7c93d8d0d2acdadfa4c5e8de768e2191e7f618b952e29623f1f0d5949ff6b8f", uci},
		{"iris/iris.data", "6f608b71a7317216319b4d27b4d9bc84e6abd734eda7872b71a458569e2656c0", uci},
		{"retail/retail.dat.gz", "1766ea8ab65a1c3c8a0cd01164cecff46af580ef6b7080010c07604ab258d4e3", fimi + "; retail.dat, compressed by gzip"},
		{"synthetic_control/synthetic_control.data", "bb716cde4ab0fb4bd512dd90ccc61bf77fc795266b87b786ed273d6ea3fb5a45", uci},
	}
}

// file reads one of Sources and checks its hash.
func (c Corpus) file(path string) ([]byte, error) {
	for _, s := range Sources() {
		if s.Path != path {
			continue
		}
		data, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(path)))
		if err != nil {
			return nil, fmt.Errorf("reading a data set: %w (it is published by %s)", err, s.From)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.SHA256 {
			return nil, fmt.Errorf("reading a data set: %s has SHA-256 %x, want %s: another version of the file? (it is published by %s)", path, sum, s.SHA256, s.From)
		}
		return data, nil
	}
	panic("no source " + path)
}

// unzipped reads one of Sources that is compressed by gzip.
func (c Corpus) unzipped(path string) ([]byte, error) {
	data, err := c.file(path)
	if err != nil {
		return nil, err
	}
	return unzip(path, data)
}

func unzip(path string, data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return out, nil
}

// member reads one file of an archive among Sources.
func (c Corpus) member(path, name string) ([]byte, error) {
	data, err := c.file(path)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	f, err := archive.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	defer f.Close()
	out, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", name, path, err)
	}
	return out, nil
}

// lines returns the non-empty lines of text, trimmed.
func lines(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
