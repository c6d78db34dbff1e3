package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// box runs a script, $2, on this machine's files without network; all changes stay in memory. $1 is
// a directory; the files of $1/release are copied to the script's working directory.
const box = `set -eu
mount --make-rprivate /
mkdir "$1/box"
mount -t tmpfs tmpfs "$1/box"
mkdir "$1/box/upper" "$1/box/work" "$1/box/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/box/upper,workdir=$1/box/work" "$1/box/root"
mount -t tmpfs tmpfs "$1/box/root/srv"
cp "$1"/release/* "$1/box/root/srv/"
mount --rbind /dev "$1/box/root/dev"
mount -t proc proc "$1/box/root/proc"
exec chroot "$1/box/root" bash -c "cd /srv; $2"
`

// probes are checks to run after the line that contains after.
var probes = []struct{ after, look string }{
	{"apt install", `
echo "enabled: $(systemctl is-enabled cosketch-party)"
stat -c 'stat: %n %a %U %G' /etc/cosketch /var/lib/cosketch
getent passwd cosketch
party --version
echo 'PARTY_LOG_LEVEL=warn' >>/etc/default/cosketch-party
dpkg -i ./cosketch-party_*.deb >/dev/null 2>&1 && tail -1 /etc/default/cosketch-party`},
	{"systemctl enable", `
echo "then enabled: $(systemctl is-enabled cosketch-party)"
systemd-analyze verify cosketch-party.service 2>&1 | grep cosketch || echo 'unit: no complaint'
stat -c 'stat: %n %a %U' /var/lib/cosketch/party /etc/cosketch/party.yaml
runuser -u cosketch -- party --state /var/lib/cosketch/party --config /etc/cosketch/party.yaml doctor`},
	{"/usr/local/bin", `/usr/local/bin/party --version | sed 's/^/by hand: /'`},
	{"apt remove", `
[ -e /usr/bin/party ] && echo WRONG: the program stays
dpkg --purge cosketch-party >/dev/null 2>&1 || echo WRONG: purge
[ -e /etc/default/cosketch-party ] && echo WRONG: the settings stay
stat -c 'kept: %n %a %U' /var/lib/cosketch/party /etc/cosketch/party.yaml`},
}

// The Linux commands of docs/install.md run, line by line, on a copy of this machine.
func TestInstall(t *testing.T) {
	release := releaseDir(t)
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("installs packages in a copy of this machine: COSKETCH_FULL=1")
	}
	for _, tool := range []string{"unshare", "apt", "systemctl", "runuser", "ssh-keygen"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s", tool)
		}
	}
	if out, err := exec.Command("unshare", "--mount", "--net", "true").CombinedOutput(); err != nil || os.Getuid() != 0 {
		t.Skipf("needs root and namespaces: %v\n%s", err, out)
	}
	dir := t.TempDir()
	work := filepath.Join(dir, "release")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*_" + runtime.GOARCH + ".deb", "*-linux-" + runtime.GOARCH + ".tar.gz"} {
		for _, name := range named(t, release, pattern) {
			if err := os.WriteFile(filepath.Join(work, filepath.Base(name)), read(t, name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	signers := read(t, sign(t, work))
	if err := os.WriteFile(filepath.Join(work, "signers"), signers, 0o644); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("systemctl() { command systemctl \"${@/--now/--quiet}\"; }\n") // no service manager runs in the copy; docs/systemd_test.go starts the units
	lines := 0
	text := string(read(t, "../../docs/install.md"))
	for _, block := range strings.Split(text, "```sh not install\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			lines++
			script.WriteString("echo '== " + line + "'\n" + line + " || echo WRONG: a line\n")
			for _, p := range probes {
				if strings.Contains(line, p.after) {
					script.WriteString(p.look + "\n")
				}
			}
		}
	}
	if lines < 8 {
		t.Fatalf("only %d lines found", lines)
	}
	cmd := exec.Command("unshare", "--mount", "--net", "sh", "-c", box, "box", dir, script.String())
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "DEBIAN_FRONTEND=noninteractive"}
	cmd.Stdin = strings.NewReader(strings.Repeat("y\n", 10)) // answers to apt's questions
	out, err := cmd.CombinedOutput()
	said := string(out)
	if strings.Contains(said, "mount:") && !strings.Contains(said, "== ") {
		t.Skipf("a copy of this machine cannot be made here: %v\n%s", err, said)
	}
	for _, want := range []string{
		`Good "cosketch-release" signature for release`, ".deb: OK", "enabled: disabled", "stat: /etc/cosketch 700 cosketch cosketch", "stat: /var/lib/cosketch 700 cosketch cosketch",
		":/var/lib/cosketch:/usr/sbin/nologin", "\nPARTY_LOG_LEVEL=warn\n", "then enabled: enabled", "unit: no complaint", "stat: /var/lib/cosketch/party 700 cosketch", "PASS state: private",
		"by hand: party v", "kept: /var/lib/cosketch/party 700 cosketch", "kept: /etc/cosketch/party.yaml 600 cosketch",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if err != nil || strings.Contains(said, "WRONG") {
		t.Errorf("a line failed: %v", err)
	}
	if t.Failed() {
		t.Log(said)
	}
}
