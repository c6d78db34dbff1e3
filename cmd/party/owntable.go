package main

import (
	"bytes"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/table"
)

// ownTable is a table about a party's own records, which only the party may see.
type ownTable struct {
	text bytes.Buffer
	path string // output file; empty: it is printed
}

// tableOf makes a table of columns and records, and writes it if a path is given. The first ids
// columns are the party's own ids.
func tableOf(path string, ids int, columns []string, records [][]string) (*ownTable, error) {
	t := &ownTable{path: path}
	w := table.NewWriter(&t.text, ids)
	for _, row := range append([][]string{columns}, records...) {
		if err := w.Row(row); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if path == "" {
		return t, nil
	}
	return t, console.WriteFileAtomic(path, func(to io.Writer) error {
		_, err := to.Write(t.text.Bytes())
		return err
	})
}

// print says where the table is, or prints it unescaped: the ids are the reader's own.
func (t *ownTable) print(c *console.Console, to io.Writer) {
	if t.path != "" {
		io.WriteString(to, t.path+"\n")
		return
	}
	c.Out.Write(t.text.Bytes())
}
