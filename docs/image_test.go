//go:build linux

package docs_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/full"
)

// image is the image of operations/Dockerfile, made without docker and without the base from a
// registry. The build stage runs on this machine; programs see only what the last stage copies.
type image struct {
	root    string // root directory after the build
	volumes string // directory of the volumes, by name; each starts with the image's files
	place   string // mount point of the volume
	user    string // user and group, in chroot's form
	env     []string
	tools   map[string]string // paths of this machine's tools
}

var (
	comment   = regexp.MustCompile(`(?m)^#.*\n`)
	continued = regexp.MustCompile(`\s*\\\n\s*`)
	copying   = regexp.MustCompile(`^COPY --from=build (?:--chown=(\d+:\d+) )?(/\S+)/ (/\S*)$`)
	setting   = regexp.MustCompile(`[A-Z_]+=\S+`)
	stageDirs = regexp.MustCompile(`(^|\s)(/(?:out|root-of-image|state)\b)`)
)

// newImage follows the Dockerfile, and fails on an unknown line.
func newImage(t *testing.T) *image {
	t.Helper()
	im := &image{tools: map[string]string{}}
	for _, tool := range []string{"unshare", "mount", "chroot", "ip", "cp", "chown", "sh"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("needs %s", tool)
		}
		im.tools[tool] = path
	}
	if out, err := exec.Command(im.tools["unshare"], "--mount", "--net", "true").CombinedOutput(); err != nil {
		t.Skipf("namespaces are not permitted here: %v\n%s", err, out)
	}
	const roots = "/etc/ssl/certs/ca-certificates.crt"
	if _, err := os.Stat(roots); err != nil {
		t.Skip("the base has certificate roots, and this machine has none: Debian's package ca-certificates")
	}
	text, err := os.ReadFile("operations/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stage := t.TempDir()
	im.root, im.volumes = t.TempDir(), t.TempDir()
	if err := os.Chmod(im.root, 0o755); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(continued.ReplaceAllString(comment.ReplaceAllString(string(text), ""), " ")) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		copied := copying.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "FROM golang:"), line == "WORKDIR /src", line == "COPY go.mod go.sum ./", line == "RUN go mod download", line == "COPY . .":
		case line == "", line == "FROM scratch", word == "EXPOSE", word == "CMD":
		case word == "RUN":
			build := exec.Command(im.tools["sh"], "-euc", stageDirs.ReplaceAllString(rest, "${1}"+stage+"${2}"))
			build.Dir = ".."
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", rest, err, out)
			}
		case copied != nil:
			owner, from, to := copied[1], stage+copied[2], im.root+copied[3]
			if owner == "" {
				owner = "0:0"
			}
			im.do(t, "chown", "-R", owner, from)
			if err := os.MkdirAll(to, 0o755); err != nil {
				t.Fatal(err)
			}
			im.do(t, "cp", "-a", from+"/.", to)
		case word == "USER":
			im.user = rest
		case word == "ENV":
			im.env = setting.FindAllString(rest, -1)
		case word == "VOLUME":
			im.place = rest
		default:
			t.Fatalf("a line of the Dockerfile that this test does not know: %s", line)
		}
	}
	return im
}

func (im *image) do(t *testing.T, tool string, args ...string) {
	t.Helper()
	if out, err := exec.Command(im.tools[tool], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", tool, args, err, out)
	}
}

// enter does what docker does before the program starts. Arguments: $1 is the root, $2 mount, $3
// chroot, $4 ip, $5 the user; then pairs of folder and mount point; after -- the program.
const enter = `root=$1 mount=$2 chroot=$3 ip=$4 user=$5
shift 5
"$ip" link set lo up
"$mount" --bind "$root" "$root"
"$mount" -o remount,bind,ro "$root"
while [ "$1" != -- ]; do
  "$mount" --bind "$1" "$root$2"
  shift 2
done
shift
exec "$chroot" --userspec="$user" --groups= "$root" "$@"`

// run runs a `docker run` line. The root is always read-only, and the network isolated.
func (im *image) run(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	args := []string{"--mount", "--net", im.tools["sh"], "-euc", enter, "enter", im.root, im.tools["mount"], im.tools["chroot"], im.tools["ip"], im.user}
	words := strings.Fields(line)
	for len(words) > 0 && words[0] != "cosketch" {
		switch words[0] {
		case "docker", "run", "--rm", "-d", "--read-only":
		case "-p":
			words = words[1:]
		case "-v":
			words = words[1:]
			name, place, _ := strings.Cut(strings.TrimSuffix(words[0], ":ro"), ":")
			args = append(args, im.volume(t, name, place), place)
		default:
			t.Fatalf("%s: a word that this test does not know: %s", line, words[0])
		}
		words = words[1:]
	}
	if len(words) < 2 {
		t.Fatalf("%s: no image, or no command", line)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, im.tools["unshare"], append(append(args, "--"), words[1:]...)...)
	cmd.Env, cmd.WaitDelay = append([]string{"HOME=/"}, im.env...), 10*time.Second // the user has no entry, so docker sets HOME to /
	return cmd
}

// volume returns the folder of a volume. A new one is a copy of the image's files at its mount
// point.
func (im *image) volume(t *testing.T, name, place string) string {
	t.Helper()
	if err := os.MkdirAll(im.root+place, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(im.volumes, strings.ReplaceAll(name, "/", "_"))
	if _, err := os.Stat(dir); err != nil {
		im.do(t, "cp", "-a", im.root+place, dir)
	}
	return dir
}

// says runs a line, and checks its output.
func (im *image) says(t *testing.T, line, want string) {
	t.Helper()
	out, err := im.run(t, line).CombinedOutput()
	if err != nil || !regexp.MustCompile(want).Match(out) {
		t.Errorf("%s: %v, want %q in\n%s", line, err, want, out)
	}
}

// serves runs a line until the program reports that it is up, and stops it.
func (im *image) serves(t *testing.T, line, want string) {
	t.Helper()
	cmd := im.run(t, line)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	said, up := "", false
	for lines := bufio.NewScanner(r); !up && lines.Scan(); {
		said += lines.Text() + "\n"
		up = regexp.MustCompile(want).MatchString(said)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	io.Copy(io.Discard, r)
	if err := cmd.Wait(); err != nil || !up {
		t.Errorf("%s: %v, up: %v\n%s", line, err, up, said)
	}
}

// The programs run in an image without anything else, not as root, with a read-only root. All
// docker commands of the documents are run as written, except docker itself.
func TestImage(t *testing.T) {
	full.Only(t, "builds the image's files")
	if os.Getuid() != 0 {
		t.Skip("needs root, to become the image's user")
	}
	im := newImage(t)
	im.probe(t)

	header, err := os.ReadFile("operations/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	shown := [][]string{regexp.MustCompile(`(?m)^#   (docker .*)$`).FindAllString(string(header), -1)}
	for _, block := range blocksOf(t, "operator.md", "sh not docker") {
		shown = append(shown, strings.Split(strings.TrimSpace(block), "\n"))
	}
	for _, lines := range shown {
		im.volumes = t.TempDir()
		ran := 0
		for _, line := range lines {
			line = strings.TrimPrefix(line, "#   ")
			switch {
			case line == "docker build -f docs/operations/Dockerfile -t cosketch .":
			case strings.HasSuffix(line, " aggregator init"):
				im.says(t, line, `state is in /var/lib/cosketch/aggregator, its configuration is /var/lib/cosketch/aggregator.yaml`)
			case strings.HasSuffix(line, " party init"):
				im.says(t, line, `its state is in /var/lib/cosketch/party, its site file is\s/var/lib/cosketch/party.yaml`)
			case strings.HasSuffix(line, " aggregator serve"):
				im.serves(t, line, `"msg":"listening".*/tcp/7424`)
			case strings.HasSuffix(line, " party serve"):
				im.serves(t, line, `"msg":`)
			default:
				t.Errorf("no test knows what %q says", line)
			}
			ran++
		}
		if ran < 3 {
			t.Errorf("only %d lines of docker found", ran)
		}
	}

	im.volumes = t.TempDir()
	const run = "docker run --rm --read-only -v node:/var/lib/cosketch cosketch "
	im.says(t, run+"party init", `its state is in`)
	im.says(t, run+"party doctor", `PASS state: private, and everything is there`)
	im.says(t, run+"party advanced config show --effective", `(?m)^ *state +/var/lib/cosketch/party +.*PARTY_STATE`)
	im.says(t, run+"aggregator init", `state is in`)
	im.says(t, run+"aggregator advanced config show --effective", `(?m)^ *state +/var/lib/cosketch/aggregator +.*AGGREGATOR_STATE`)
	im.says(t, run+"aggregator advanced fsck", `PASS`)
	im.says(t, "docker run --rm --read-only cosketch party --help", `Usage: party`)
}

// probe checks the isolation: a program that needs a libc does not start, only the volume is
// writable, and no process is root.
func (im *image) probe(t *testing.T) {
	t.Helper()
	const run = "docker run -v probe:/probe -v state:/var/lib/cosketch cosketch "
	dir := im.volume(t, "probe", "/probe")
	build := exec.Command("go", "build", "-o", dir+"/static", "testdata/image/probe.go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the probe: %v\n%s", err, out)
	}
	id, _, _ := strings.Cut(im.user, ":")
	if n, err := strconv.Atoi(id); err != nil || n == 0 {
		t.Errorf("the image runs as %q", im.user)
	}
	im.says(t, run+"/probe/static / /tmp "+im.place, "^uid "+id+" gid "+id+` groups \[\] <nil>
writing to / false
writing to / false
writing to /tmp false
writing to `+im.place+` true
$`)
	im.do(t, "cp", im.tools["cp"], dir+"/dynamic")
	if out, err := im.run(t, run+"/probe/dynamic --version").CombinedOutput(); err == nil {
		t.Errorf("a program that wants a libc runs:\n%s", out)
	}
	if out, err := im.run(t, run+"sh -c true").CombinedOutput(); err == nil {
		t.Errorf("there is a shell:\n%s", out)
	}
}
