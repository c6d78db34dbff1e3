package main

import (
	"bytes"
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/table"
)

// ownTable is a table about a party's own records, for its owner alone.
type ownTable struct {
	text bytes.Buffer
	path string // where it is written; empty: it is printed
}

// tableOf makes it of columns, of which the first so many are ids of the party's own, and
// records, and writes it where a path is given.
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
	return t, console.WriteFileWhole(path, func(to io.Writer) error {
		_, err := to.Write(t.text.Bytes())
		return err
	})
}

// print says where the table is, or prints it as it is: the ids in it are the reader's own.
func (t *ownTable) print(c *console.Console, to io.Writer) {
	if t.path != "" {
		io.WriteString(to, t.path+"\n")
		return
	}
	c.Out.Write(t.text.Bytes())
}
