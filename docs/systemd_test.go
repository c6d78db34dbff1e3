package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The units start under a real systemd, as their first lines say, and carry a study to its
// result: ready when they say so, sandboxed as they say, back after a crash, ended when told to.
func TestSystemdUnits(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("boots a container: with COSKETCH_FULL=1")
	}
	for _, program := range []string{"systemd-nspawn", "unshare", "sudo", "systemd-analyze"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: Debian's packages systemd-container and sudo", program)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to boot a container")
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../cmd/party", "../cmd/aggregator").CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	units, err := filepath.Glob("operations/systemd/*.service")
	if err != nil || len(units) != 3 {
		t.Fatalf("units: %q, %v", units, err)
	}
	for _, path := range append(units, "testdata/systemd/study.sh") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	boot, err := filepath.Abs("testdata/systemd/boot.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", boot, dir)
	cmd.WaitDelay = time.Second
	console, err := cmd.CombinedOutput()
	raw, _ := os.ReadFile(filepath.Join(dir, "said"))
	said := string(raw)
	if !strings.Contains(said, "== booted") {
		t.Skipf("systemd does not boot in a container here: %v\n%s", err, console)
	}
	for _, want := range []string{
		"== north has the result", "== south has the result", `"msg":"log level","level":"WARN"`, "NRestarts=1\nActiveState=active",
		strings.Repeat("Result=success\nExecMainStatus=0\n", 3), `unknown key "nonsense"`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	for name, pattern := range map[string]string{
		"a start that cannot succeed is not tried again": `(?s)== what does not mend itself.*\nNRestarts=0\nExecMainStatus=4\n.*ActiveState=failed\n`,
		"both units are hardened":                        `(?s)exposure level for cosketch-aggregator.service: [01]\.\d OK.*exposure level for cosketch-party.service: [01]\.\d OK`,
		"the end is reached":                             `== done\n$`,
	} {
		if !regexp.MustCompile(pattern).MatchString(said) {
			t.Errorf("not so: %s", name)
		}
	}
	if strings.Contains(said, "WRONG") {
		t.Error("a command failed")
	}
	for _, complaint := range []string{"already exists but the mode is different", "Please remove"} {
		if strings.Contains(said, complaint) {
			t.Errorf("systemd says: %s", complaint)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^not JSON: .*$`).FindAllString(said, -1) {
		if !strings.Contains(line, `unknown key "nonsense"`) {
			t.Errorf("in the journal, %s", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", said)
	}
}
