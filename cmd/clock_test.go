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

// Clocks that are off by a day, for real: the two programs are built with a standard
// library whose time.Now adds $CLOCK_AHEAD seconds, so that certificates, timers and every
// library see that clock, and not the node's own code alone. It builds the library anew,
// which takes a minute or two before it is cached.
func TestClocksADayOff(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("builds the standard library: COSKETCH_FULL=1")
	}
	before, dir := programs, t.TempDir()
	build := exec.Command("go", "build", "-overlay", skewedTime(t, dir), "-o", dir, "./party", "./aggregator")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	programs = dir
	t.Cleanup(func() { programs = before }) // after the script, which runs when this function has returned
	testscript.Run(t, scripts("testdata/clock/clock.txtar"))
}

// skewedTime writes an overlay in which time.Now is off, made from the library that is
// installed.
func skewedTime(t *testing.T, dir string) (overlay string) {
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
		{"import (\n", "import (\n\t\"syscall\"\n"},
		{"func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += ahead\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("package time is not as it was: %q is there %d times", change[0], strings.Count(text, change[0]))
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	text += `
var ahead = func() (seconds int64) {
	text, _ := syscall.Getenv("CLOCK_AHEAD")
	for _, c := range []byte(text) {
		if c != '-' {
			seconds = 10*seconds + int64(c-'0')
		}
	}
	if len(text) > 0 && text[0] == '-' {
		seconds = -seconds
	}
	return seconds
}()
`
	skewed := filepath.Join(dir, "time.go")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: skewed}})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	for path, data := range map[string]string{skewed: text, overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
