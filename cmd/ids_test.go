package cmd_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// ids PATH FIRST COUNT expects ids of the records with these numbers of rows, in the files below a
// path: more than half of them, of which there must be at least 20. Ids are short: a few in a
// hundred occur by chance in keys and noise, but never so many.
func ids(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: ids PATH FIRST COUNT")
	}
	first, err := strconv.Atoi(args[1])
	ts.Check(err)
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	if first < 10 || count < 20 {
		ts.Fatalf("ids %s: ids of a single digit, or fewer than 20, may stand anywhere", args[0])
	}
	found := map[int]bool{}
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for i := first; i < first+count; i++ {
			if bytes.Contains(content, fmt.Append(nil, "r", i)) {
				found[i] = true
			}
		}
		files++
		return err
	}))
	if files == 0 {
		ts.Fatalf("no files in %s", args[0])
	}
	if there := 2*len(found) > count; there == neg {
		ts.Fatalf("%d of %d ids are in the %d files of %s", len(found), count, files, args[0])
	}
}
