package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/full"
)

// blocksOf returns the code blocks of a document whose info string begins with these words.
func blocksOf(t *testing.T, document, info string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range strings.Split(string(text), "```"+info+"\n")[1:] {
		block, _, _ := strings.Cut(rest, "```")
		blocks = append(blocks, block)
	}
	return blocks
}

// The units work under a real systemd as the guides and their own header comments say. A study
// reaches its result. Each unit reports readiness, is sandboxed, restarts after a crash, and stops
// when told to.
func TestSystemdUnits(t *testing.T) {
	full.Only(t, "boots a container")
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
	share := func(name string, text []byte, mode os.FileMode) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range units {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		share("source/docs/"+filepath.ToSlash(path), text, 0o644)
	}
	script, err := os.ReadFile("testdata/systemd/study.sh")
	if err != nil {
		t.Fatal(err)
	}
	share("study.sh", script, 0o755)
	for guide, want := range map[string]int{"operator.md": 2, "steward.md": 1} {
		blocks := blocksOf(t, guide, "sh not systemd")
		if len(blocks) != want {
			t.Errorf("%s has %d blocks for systemd, want %d", guide, len(blocks), want)
		}
		for i, block := range blocks {
			share(fmt.Sprintf("%s-%d.sh", strings.TrimSuffix(guide, ".md"), i), []byte(block), 0o644)
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
		strings.Repeat("Result=success\nExecMainStatus=0\n", 3), `nonsense: unknown key`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	for name, pattern := range map[string]string{
		"a start that cannot succeed is not tried again": `(?s)== what does not mend itself.*\nNRestarts=0\nExecMainStatus=4\n.*ActiveState=failed\n`,
		"status shows that it runs":                      `(?s)== typed: systemctl status cosketch-aggregator\n.*Active: active \(running\).*\n== typed: journal`,
		"the journal shows what it does":                 `(?s)== typed: journalctl -u cosketch-aggregator -f\n.*"msg":.*\n== typed: systemctl reload`,
		"the user's service is on for good":              `== typed: systemctl --user enable --now cosketch-party\n.*Created symlink`,
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
		if !strings.Contains(line, `nonsense: unknown key`) {
			t.Errorf("in the journal, %s", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", said)
	}
}
