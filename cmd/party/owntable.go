package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node/console"
)

// ownTable is a table about a party's own records, for its owner alone.
type ownTable struct {
	text bytes.Buffer
	path string // where it is written; empty: it is printed
}

// tableOf makes it of columns and records, and writes it where a path is given.
func tableOf(path string, columns []string, records [][]string) (*ownTable, error) {
	t := &ownTable{path: path}
	w := csv.NewWriter(&t.text)
	w.Write(columns)
	w.WriteAll(records)
	if err := w.Error(); err != nil {
		return nil, err
	}
	if path == "" {
		return t, nil
	}
	if err := os.WriteFile(path, t.text.Bytes(), 0o600); err != nil {
		return nil, console.WithCode(console.Usage, err)
	}
	return t, nil
}

// print says where the table is, or prints it.
func (t *ownTable) print(to io.Writer) {
	if t.path != "" {
		fmt.Fprintln(to, t.path)
		return
	}
	to.Write(t.text.Bytes())
}
