package cmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Clocks that are really off by a day. The two programs are linked with a package time whose Now
// adds $CLOCK_AHEAD seconds, so that certificates, timers and every library see that clock, not
// just the node's own code. Nothing else is recompiled: the package's export data are unchanged,
// which the linker checks.
func TestClocksADayOff(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("links the programs with another clock: COSKETCH_FULL=1")
	}
	before, dir := programs, t.TempDir()
	linking := filepath.Join(dir, "linking")
	if err := os.WriteFile(linking, []byte(linkSkewed), 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-toolexec", linking, "-o", dir, "./party", "./aggregator")
	build.Env = append(os.Environ(), "GOFLAGS=", "SKEWED_TIME="+skewedTime(t, dir))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	programs = dir
	t.Cleanup(func() { programs = before }) // after the script, which runs when this function has returned
	testscript.Run(t, scripts("testdata/clock/clock.txtar"))
}

// linkSkewed runs a tool of the compiler, and gives the linker another package time.
const linkSkewed = `#!/bin/sh -eu
for argument; do
  case $argument in
    */importcfg.link) sed -i "s|^packagefile time=.*|packagefile time=$SKEWED_TIME|" "$argument" ;;
  esac
done
exec "$@"
`

// addAhead is on one line and declares nothing in the package, so that everything that other
// packages were compiled with keeps its place.
const addAhead = `{ text, _ := syscall.Getenv("CLOCK_AHEAD"); var ahead int64; ` +
	`for _, c := range []byte(text) { if c != '-' { ahead = 10*ahead + int64(c-'0') } }; ` +
	`if len(text) > 0 && text[0] == '-' { ahead = -ahead }; sec += ahead }`

// skewedTime compiles a package time in which Now is off. It is made from the installed library and
// has its name. It returns the path of the archive.
func skewedTime(t *testing.T, dir string) (archive string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for _, change := range [][2]string{
		{"import (\n", "import ( \"syscall\"\n"},
		{"func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow(); " + addAhead + "\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("package time is not as it was: %q is there %d times", change[0], strings.Count(text, change[0]))
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	skewed := filepath.Join(dir, "time.go")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: skewed}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	for path, data := range map[string]string{skewed: text, overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	place := "-gcflags=time=-trimpath=" + skewed + "=>$GOROOT/src/time/time.go;" + strings.TrimSpace(string(root)) + "=>$GOROOT"
	list := exec.Command("go", "list", "-overlay", overlay, place, "-export", "-f", "{{.Export}}", "time")
	list.Env, list.Stderr = append(os.Environ(), "GOFLAGS="), os.Stderr // as -trimpath would give other paths
	out, err := list.Output()
	if err != nil {
		t.Fatalf("compiling package time: %v", err)
	}
	return strings.TrimSpace(string(out))
}
