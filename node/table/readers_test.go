package table

import (
	"bytes"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// Other programs read what this package writes: numpy, if the system's Python has it, and DuckDB,
// installed by npm, if COSKETCH_FULL asks for the slow tests.

func written(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNumpyReadsMatrices(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skipf("no numpy for %s: %v", python, err)
	}
	path := written(t, "matrix.npy", func(w io.Writer) error {
		return NPY(w, [][]float64{{0.1, math.NaN(), -0x1p998}, {1, 2, math.SmallestNonzeroFloat64}})
	})
	out, err := exec.Command(python, "-c", `
import numpy, sys
a = numpy.load(sys.argv[1], allow_pickle=False)
print(a.dtype.str, a.shape, a.flags["C_CONTIGUOUS"], [[float(x).hex() for x in row] for row in a])
import io
b = io.BytesIO(); numpy.save(b, a)
print(b.getvalue() == open(sys.argv[1], "rb").read())
`, path).CombinedOutput()
	want := "<f8 (2, 3) True [['0x1.999999999999ap-4', 'nan', '-0x1.0000000000000p+998'], ['0x1.0000000000000p+0', '0x1.0000000000000p+1', '0x0.0000000000001p-1022']]\nTrue\n"
	if err != nil || string(out) != want {
		t.Errorf("numpy reads (%v)\n%s, want\n%s", err, out, want)
	}
}

func TestNumpyReadsTables(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skipf("no numpy for %s: %v", python, err)
	}
	path := written(t, "mixed.npy", func(w io.Writer) error { return Records(w, mixed) })
	out, err := exec.Command(python, "-c", `
import io, numpy, sys
a = numpy.load(sys.argv[1], allow_pickle=False)
print(a.dtype.descr, a["estimate"][0], a["name"].tolist())
b = io.BytesIO(); numpy.save(b, a)
print(b.getvalue() == open(sys.argv[1], "rb").read())
`, path).CombinedOutput()
	want := "[('which', '<f8'), ('estimate', '<f8'), ('name', '<U18'), ('defined', '<f8')] 0.1 ['north: ward=a, \"b\"', 'größer\\nals', '', '']\nTrue\n"
	if err != nil || string(out) != want {
		t.Errorf("numpy reads (%v)\n%s, want\n%s", err, out, want)
	}
}

// duckdb prints the results of the queries given as arguments, as JSON.
const duckdb = `
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const query of process.argv.slice(2)) {
    const found = await connection.runAndReadAll(query);
    console.log(JSON.stringify([found.columnNames(), found.columnTypes().map(String), found.getRowsJson()]));
  }
})();
`

func TestDuckDBReadsTables(t *testing.T) {
	full.Only(t, "installs DuckDB")
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no npm")
	}
	dir := t.TempDir()
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "@duckdb/node-api")
	install.Dir = dir
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install DuckDB: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "read.js"), []byte(duckdb), 0o600); err != nil {
		t.Fatal(err)
	}
	inParquet := written(t, "mixed.parquet", func(w io.Writer) error { return Parquet(w, mixed) })
	inCSV := written(t, "mixed.csv", func(w io.Writer) error { return CSV(w, mixed) })
	read := exec.Command("node", "read.js", "SELECT * FROM '"+inParquet+"'", "SELECT * FROM read_csv('"+inCSV+"')")
	read.Dir = dir
	out, err := read.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 2 {
		t.Fatalf("DuckDB fails (%v):\n%s", err, out)
	}
	const head = `[["which","estimate","name","defined"],["BIGINT","DOUBLE","VARCHAR","BOOLEAN"],[`
	const one, two = `["1",0.1,"north: ward=a, \"b\"",true],["-2",null,"größer\nals",false],[null,1e-300,null,null]`, `["9223372036854775807",-250000000000000000,`
	if want := head + one + "," + two + `"",true]]]`; lines[0] != want {
		t.Errorf("Parquet reads as\n%s, want\n%s", lines[0], want)
	}
	shown := strings.ReplaceAll(one, `\nals`, `\\u000aals`) // CSV escapes control characters, and does not distinguish empty from absent text
	if want := head + shown + "," + two + `null,true]]]`; lines[1] != want {
		t.Errorf("CSV reads as\n%s, want\n%s", lines[1], want)
	}
}
