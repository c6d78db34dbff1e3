package cmd_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding/charmap"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// Script commands that write files that a script cannot contain as text.

// bytes FILE TEXT writes a file; TEXT has Go's escapes.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// gzip FILE OUT compresses a file.
func gzipFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gzip FILE OUT")
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}

// latin1 FILE writes a file in Windows-1252 with Windows line endings, as many offices'
// spreadsheets do.
func latin1(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: latin1 FILE")
	}
	text, err := charmap.Windows1252.NewEncoder().String(strings.ReplaceAll(ts.ReadFile(args[0]), "\n", "\r\n"))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// cut FILE PERCENT truncates a file to its beginning.
func cutFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE PERCENT")
	}
	percent, err := strconv.Atoi(args[1])
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()*int64(percent)/100))
}

// parquet FILE NAME=TYPE... writes a Parquet file of 1,000 records. A type is text,
// number, integer or list; texts and integers differ in every record.
func writeParquet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: parquet FILE NAME=TYPE...")
	}
	types := map[string]parquet.Node{
		"text":    parquet.String(),
		"number":  parquet.Leaf(parquet.DoubleType),
		"integer": parquet.Leaf(parquet.Int64Type),
		"list":    parquet.Repeated(parquet.Leaf(parquet.DoubleType)),
	}
	group, kinds := parquet.Group{}, map[string]string{}
	for _, arg := range args[1:] {
		name, kind, _ := strings.Cut(arg, "=")
		if types[kind] == nil {
			ts.Fatalf("unknown type %q", kind)
		}
		group[name], kinds[name] = types[kind], kind
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("table", group))
	for i := range 1000 {
		var row parquet.Row
		for at, path := range w.Schema().Columns() {
			value, level := parquet.DoubleValue(float64(i%10)), 0
			switch kinds[path[0]] {
			case "text":
				value = parquet.ByteArrayValue([]byte("secret" + strconv.Itoa(i)))
			case "integer":
				value = parquet.Int64Value(int64(i))
			case "list":
				level = 1
			}
			row = append(row, value.Level(0, level, at))
		}
		_, err := w.WriteRows([]parquet.Row{row})
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

// sqlite FILE STATEMENT... makes a database.
func writeSQLite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: sqlite FILE STATEMENT...")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	for _, statement := range args[1:] {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
}

// damage DIR changes one bit in the middle of the first file below a directory.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage DIR")
	}
	found := ""
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err == nil && found == "" && !d.IsDir() {
			found = path
		}
		return err
	}))
	data, err := os.ReadFile(found)
	ts.Check(err)
	data[len(data)/2] ^= 1
	ts.Check(os.WriteFile(found, data, 0o600))
}

// newer DIR gives a state directory the layout version of a later program, which SQLite keeps in a
// database's header.
func newer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: newer DIR")
	}
	const userVersion = 60
	f, err := os.OpenFile(filepath.Join(ts.MkAbs(args[0]), "state.db"), os.O_RDWR, 0)
	ts.Check(err)
	_, err = f.WriteAt([]byte{0, 0, 0, 99}, userVersion)
	ts.Check(err)
	ts.Check(f.Close())
}

// value NAME FILE sets an environment variable to the contents of a file or of stdout.
func value(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: value NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}
