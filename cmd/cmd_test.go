// Package cmd_test runs the two programs as their users do: real processes, told
// apart by scripts in testdata.
package cmd_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs is the directory of the two binaries, repository that of the documents' folder.
var programs, repository string

func TestMain(m *testing.M) {
	os.Exit(built(m))
}

// built runs the tests with both programs in a directory of their own.
func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cosketch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, program := range []string{"party", "aggregator"} {
		build := exec.Command("go", "run", "-exec", "cp", "./"+program, dir) // go keeps what it links to run it, and gives it to cp
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the programs: %v\n%s", err, out)
			return 1
		}
	}
	programs = dir
	if repository, err = filepath.Abs(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	flag.Parse()
	if parallel := flag.Lookup("test.parallel").Value; parallel.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		if err := parallel.Set(fmt.Sprint(2 * runtime.GOMAXPROCS(0))); err != nil { // scripts wait more than they compute
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// touchSources looks at every source file that the programs are built from: go
// test, which notes what a test itself looks at (and not what TestMain does), then
// knows that a stored result is out of date when one of them changes.
func touchSources() error {
	for _, dir := range []string{".", "../node", "../protocol", "../kernel", "../seed"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("looking at the sources: %w", err)
		}
	}
	return nil
}

func TestScripts(t *testing.T) {
	if err := touchSources(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata (%v)", err)
	}
	testscript.Run(t, scripts(files...))
}

// scripts are the parameters of a run of these.
func scripts(files ...string) testscript.Params {
	return testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               homes,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"approved":   putApproved,
			"ask":        askOften,
			"awaits":     awaits,
			"bytes":      writeBytes,
			"crowd":      crowd,
			"cut":        cutFile,
			"damage":     damage,
			"evaluates":  evaluates,
			"dates":      datesOf,
			"exits":      exits,
			"fetch":      fetch,
			"fetches":    fetches,
			"posts":      posts,
			"fires":      fires,
			"gzip":       gzipFile,
			"hold":       hold,
			"identify":   identify,
			"ids":        ids,
			"init":       initNodes,
			"interrupt":  interrupt,
			"json":       isJSON,
			"latin1":     latin1,
			"line":       typedLine,
			"list":       writeList,
			"newer":      newer,
			"parquet":    writeParquet,
			"prometheus": startPrometheus,
			"round":      round,
			"receiver":   receiver,
			"rows":       rows,
			"site":       writeSite,
			"spoil":      spoil,
			"sqlite":     writeSQLite,
			"metrics":    writeMetrics,
			"token":      readToken,
			"told":       told,
			"steps":      steps,
			"study":      writeStudy,
			"value":      value,
		},
	}
}

// condition knows namespaces: whether a script can mount disks of its own; pyarrow and polars: whether Python has them; and full: whether
// long ones are wanted.
func condition(name string) (bool, error) {
	switch name {
	case "namespaces":
		return exec.Command("unshare", "-rm", "true").Run() == nil, nil
	case "pyarrow", "polars":
		return exec.Command("python3", "-c", "import pyarrow, "+name).Run() == nil, nil
	case "full":
		return os.Getenv("COSKETCH_FULL") == "1", nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
