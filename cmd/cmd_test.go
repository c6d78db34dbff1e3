// Package cmd_test runs the two programs as their users do: as real processes, directed by scripts
// in testdata.
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

// programs is the directory of the two binaries, and repository the root with the documents.
var programs, repository string

func TestMain(m *testing.M) {
	os.Exit(built(m))
}

// built builds both programs into a temporary directory and runs the tests.
func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cosketch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, program := range []string{"party", "aggregator"} {
		build := exec.Command("go", "run", "-exec", "cp", "./"+program, dir) // go run keeps what it links, and passes it to cp
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

// touchSources stats every source file of the programs. go test notes which files a test itself
// looks at, but not those of TestMain. So it knows that a cached result is out of date when a
// source changes.
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

// scripts are the parameters for running these scripts.
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

// condition knows these conditions: namespaces, if a script can mount its own disks; pyarrow and
// polars, if Python has them; and full, if long scripts are wanted.
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
