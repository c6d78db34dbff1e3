package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/blakesmith/ar"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/sassoftware/go-rpmutils"
)

// largest is the size limit of a program in bytes. On linux/amd64 the aggregator has 46.7 MB and
// the party 51.3, of which 3.5 are for Arrow; on darwin/amd64, the largest, they have 47.5 and 52.2.
// In each, 8 are methods that nobody calls: kong and html/template find methods by name at run
// time, so the linker keeps all. If a program exceeds the limit, check what it newly links.
var largest = map[string]int{"party": 52_400_000, "aggregator": 47_700_000}

// unwanted are modules that no program needs: what libp2p links by default, and tools.
var unwanted = []string{"github.com/pion/", "github.com/quic-go/webtransport-go", "go.uber.org/fx", "go.uber.org/dig", "github.com/libp2p/zeroconf", "honnef.co/", "github.com/chromedp/", "github.com/goreleaser/", "pgregory.net/"}

// releaseDir returns the output of .ci/release; .ci/steps sets the variable.
func releaseDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("COSKETCH_RELEASE")
	if dir == "" {
		t.Skip("looks at a release: .ci/run release makes one")
	}
	return dir
}

// named returns the file names in a release that match.
func named(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// member is a file in an archive.
type member struct {
	text         []byte
	mode         os.FileMode
	owner, group string
	uid          int
}

// untar reads a tar, compressed or not.
func untar(t *testing.T, text []byte) map[string]member {
	t.Helper()
	var r io.Reader = bytes.NewReader(text)
	if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		r = z
	}
	all := map[string]member{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all[path.Clean(h.Name)] = member{body, h.FileInfo().Mode(), h.Uname, h.Gname, h.Uid}
	}
}

func unzip(t *testing.T, text []byte) map[string]member {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]member{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = member{text: body, mode: f.Mode()}
	}
	return all
}

func TestSumsCoverTheRelease(t *testing.T) {
	dir := releaseDir(t)
	lines := strings.Split(strings.TrimSpace(string(read(t, filepath.Join(dir, "SHA256SUMS")))), "\n")
	var listed []string
	for _, line := range lines {
		digest, name, _ := strings.Cut(line, "  ")
		listed = append(listed, name)
		if got := fmt.Sprintf("%x", sha256.Sum256(read(t, filepath.Join(dir, name)))); got != digest {
			t.Errorf("%s: %s is listed, %s it is", name, digest, got)
		}
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if !strings.HasPrefix(f.Name(), "SHA256SUMS") && !slices.Contains(listed, f.Name()) {
			t.Errorf("%s is not listed", f.Name())
		}
	}
}

var archiveName = regexp.MustCompile(`^cosketch-(.+)-(linux|darwin|windows)-(amd64|arm64)\.(tar\.gz|zip)$`)

// Each archive contains both programs for its platform, with documents.
func TestArchives(t *testing.T) {
	dir := releaseDir(t)
	seen := 0
	for _, name := range named(t, dir, "cosketch-*-*-*") {
		parts := archiveName.FindStringSubmatch(filepath.Base(name))
		if parts == nil {
			continue
		}
		seen++
		within, open := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".tar.gz"), ".zip"), untar
		if parts[4] == "zip" {
			open = unzip
		}
		all := open(t, read(t, name))
		for kept, m := range all {
			if !strings.HasPrefix(kept, within) || m.uid != 0 || m.mode.IsRegular() && m.mode != 0o644 && m.mode != 0o755 {
				t.Errorf("%s: %s has mode %v and owner %d", name, kept, m.mode, m.uid)
			}
		}
		for _, want := range []string{"README.txt", "LICENSE", "LICENSES-OF-MODULES.txt", "CHANGELOG.md", "share/doc/install.md", "share/doc/operations/systemd/cosketch-party.service", "share/man/man1/party.1", "share/completions/aggregator.powershell"} {
			if len(all[within+"/"+want].text) < 100 {
				t.Errorf("%s: no %s", name, want)
			}
		}
		p := platform{parts[2], parts[3]}
		of := map[string][]byte{}
		for _, program := range programs {
			m := all[within+"/"+p.file(program)]
			of[program] = m.text
			if m.mode != 0o755 {
				t.Errorf("%s: %s has mode %v", name, program, m.mode)
			}
			looksRight(t, p, program, m.text)
		}
		sbom := all[within+"/sbom.cdx.json"].text
		if !bytes.Equal(sbom, read(t, filepath.Join(dir, within+".cdx.json"))) {
			t.Errorf("%s: the SBOM within is not the one beside", name)
		}
		listsAll(t, sbom, of)
		if p.os == runtime.GOOS && p.arch == runtime.GOARCH {
			runs(t, of, parts[1])
		} else if emulator, err := exec.LookPath("qemu-aarch64"); err == nil && p == (platform{"linux", "arm64"}) {
			runs(t, of, parts[1], emulator)
		}
	}
	if seen == 0 {
		t.Error("there is no archive")
	}
}

// looksRight checks that a program is for its platform, small, stripped, static, and links only
// what it needs.
func looksRight(t *testing.T, p platform, program string, text []byte) {
	t.Helper()
	if len(text) > largest[program] {
		t.Errorf("%s for %v has %d bytes, more than %d: see what links it", program, p, len(text), largest[program])
	}
	info, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil {
		t.Errorf("%s for %v: %v", program, p, err)
		return
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	if set["GOOS"] != p.os || set["GOARCH"] != p.arch || set["CGO_ENABLED"] != "0" || set["-trimpath"] != "true" || set["vcs.modified"] != "false" || len(set["vcs.revision"]) != 40 {
		t.Errorf("%s for %v is built with %v", program, p, set)
	}
	for _, dep := range info.Deps {
		if slices.ContainsFunc(unwanted, func(name string) bool { return strings.HasPrefix(dep.Path, name) }) {
			t.Errorf("%s for %v links %s", program, p, dep.Path)
		}
	}
	if p.os != "linux" {
		return
	}
	f, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		t.Errorf("%s for %v: %v", program, p, err)
		return
	}
	for _, section := range []string{".symtab", ".debug_info", ".zdebug_info", ".interp"} {
		if f.Section(section) != nil {
			t.Errorf("%s for %v has a section %s", program, p, section)
		}
	}
}

// runs checks that the programs print their version and initialise.
func runs(t *testing.T, of map[string][]byte, version string, emulator ...string) {
	t.Helper()
	for program, text := range of {
		file := filepath.Join(t.TempDir(), program)
		if err := os.WriteFile(file, text, 0o755); err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) ([]byte, error) {
			line := append(append(slices.Clone(emulator), file), args...)
			return exec.Command(line[0], line[1:]...).CombinedOutput()
		}
		out, err := run("--version")
		if err != nil || !strings.Contains(string(out), version) || !regexp.MustCompile(`^`+program+` \S+, commit [0-9a-f]{12}, of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, go1\.`).Match(out) {
			t.Errorf("%s --version: %v, %s", program, err, out)
		}
		if out, err := run("--state", filepath.Join(t.TempDir(), "state"), "--config", filepath.Join(t.TempDir(), "config.yaml"), "init"); err != nil {
			t.Errorf("%s init: %v\n%s", program, err, out)
		}
	}
}

// listsAll checks that an SBOM lists every module of the programs, with a licence.
func listsAll(t *testing.T, sbom []byte, of map[string][]byte) {
	t.Helper()
	var doc bom
	if err := json.Unmarshal(sbom, &doc); err != nil {
		t.Fatal(err)
	}
	listed := map[string]component{}
	for _, c := range doc.Components {
		listed[c.Ref] = c
		if len(c.Licenses) == 0 {
			t.Errorf("no licence of %s is known: add to phrases what its text says", c.Name)
		}
	}
	for program, text := range of {
		if want := fmt.Sprintf("%x", sha256.Sum256(text)); len(listed[program].Hashes) != 1 || listed[program].Hashes[0].Content != want {
			t.Errorf("%s has SHA-256 %s, and the SBOM says %v", program, want, listed[program].Hashes)
		}
		info, err := buildinfo.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Deps) < 30 {
			t.Errorf("%s has only %d modules", program, len(info.Deps))
		}
		var uses []string
		for _, d := range doc.Dependencies {
			if d.Ref == program {
				uses = d.Does
			}
		}
		for _, dep := range info.Deps {
			ref := "pkg:golang/" + dep.Path + "@" + dep.Version
			if listed[ref].Name != dep.Path || !slices.Contains(uses, ref) {
				t.Errorf("%s links %s, which the SBOM does not list", program, ref)
			}
		}
	}
}

// stays are the directories of a node, which only the services' user may read.
var stays = []string{"/etc/cosketch", "/var/lib/cosketch"}

func TestDebianPackages(t *testing.T) {
	for _, name := range named(t, releaseDir(t), "*.deb") {
		parts := map[string][]byte{}
		for in := ar.NewReader(bytes.NewReader(read(t, name))); ; {
			h, err := in.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if parts[strings.TrimSuffix(h.Name, "/")], err = io.ReadAll(in); err != nil {
				t.Fatal(err)
			}
		}
		program, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), "cosketch-"), "_")
		control, data := untar(t, parts["control.tar.gz"]), untar(t, parts["data.tar.gz"])
		if got := string(control["conffiles"].text); got != "/etc/default/cosketch-"+program+"\n" {
			t.Errorf("%s: its configuration is %q", name, got)
		}
		if got := string(control["control"].text); !regexp.MustCompile(`(?m)^Version: \d`).MatchString(got) || !strings.Contains(got, "Pre-Depends: passwd\n") {
			t.Errorf("%s: %s", name, got)
		}
		got := map[string]member{}
		for file, m := range data {
			got["/"+file] = m
		}
		placed(t, name, program, got)
		startsNothing(t, name, string(control["preinst"].text)+string(control["postinst"].text))
	}
}

func TestRPMs(t *testing.T) {
	for _, name := range named(t, releaseDir(t), "*.rpm") {
		p, err := rpmutils.ReadRpm(bytes.NewReader(read(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		program := regexp.MustCompile(`^cosketch-([a-z]+)-`).FindStringSubmatch(filepath.Base(name))[1]
		infos, err := p.Header.GetFiles()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]member{}
		for _, f := range infos {
			mode := os.FileMode(f.Mode() & 0o777)
			if f.Mode()&syscall.S_IFMT == syscall.S_IFDIR {
				mode |= os.ModeDir
			}
			got[f.Name()] = member{mode: mode, owner: f.UserName(), group: f.GroupName()}
			const config, noreplace = 1, 1 << 4
			if kept := f.Flags()&config != 0 && f.Flags()&noreplace != 0; kept != (f.Name() == "/etc/default/cosketch-"+program) {
				t.Errorf("%s: %s is configuration that stays: %v", name, f.Name(), kept)
			}
		}
		payload, err := p.PayloadReaderExtended()
		if err != nil {
			t.Fatal(err)
		}
		for {
			f, err := payload.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if m := got[f.Name()]; m.mode.IsRegular() {
				if m.text, err = io.ReadAll(payload); err != nil {
					t.Fatal(err)
				}
				got[f.Name()] = m
			}
		}
		placed(t, name, program, got)
		var scripts string
		for _, tag := range []int{rpmutils.PREIN, rpmutils.POSTIN} {
			text, err := p.Header.GetString(tag)
			if err != nil {
				t.Fatal(err)
			}
			scripts += text
		}
		startsNothing(t, name, scripts)
		if requires, err := p.Header.GetStrings(rpmutils.REQUIRENAME); err != nil || !slices.Contains(requires, "/usr/sbin/useradd") {
			t.Errorf("%s requires %q: %v", name, requires, err)
		}
	}
}

// placed checks the paths, owners and modes of a package's files.
func placed(t *testing.T, name, program string, got map[string]member) {
	t.Helper()
	for file, m := range got {
		want := "root"
		if slices.Contains(stays, file) {
			want = user
		}
		if m.owner != want || m.group != want {
			t.Errorf("%s: %s belongs to %s:%s", name, file, m.owner, m.group)
		}
		if strings.HasPrefix(file, "/etc/systemd/") {
			t.Errorf("%s: %s turns something on", name, file)
		}
	}
	for file, mode := range map[string]os.FileMode{
		"/usr/bin/" + program: 0o755, "/usr/lib/systemd/system/cosketch-" + program + ".service": 0o644, "/usr/share/man/man1/" + program + ".1.gz": 0o644,
		"/etc/default/cosketch-" + program: 0o644, "/etc/cosketch": os.ModeDir | 0o700, "/var/lib/cosketch": os.ModeDir | 0o700,
	} {
		if m, found := got[file]; !found || m.mode != mode || !m.mode.IsDir() && len(m.text) == 0 {
			t.Errorf("%s: %s has mode %v and %d bytes, want %v", name, file, m.mode, len(m.text), mode)
		}
	}
	unit := string(got["/usr/lib/systemd/system/cosketch-"+program+".service"].text)
	if strings.Contains(unit, "/usr/local") || !strings.Contains(unit, "\nExecStart=/usr/bin/"+program+" ") || !strings.Contains(unit, "\nUser="+user+"\n") {
		t.Errorf("%s: the unit is\n%s", name, unit)
	}
}

// startsNothing checks that installation scripts create the user, and neither enable nor start a
// service.
func startsNothing(t *testing.T, name, scripts string) {
	t.Helper()
	if regexp.MustCompile(`systemctl (enable|start|restart|try-restart|preset|--now)`).MatchString(scripts) || !strings.Contains(scripts, "useradd --system") {
		t.Errorf("%s runs\n%s", name, scripts)
	}
}

// Each image contains its program for every architecture, runs as an unprivileged user, and works.
func TestImages(t *testing.T) {
	for _, name := range named(t, releaseDir(t), "*-oci.tar") {
		dir := t.TempDir()
		for file, m := range untar(t, read(t, name)) {
			if m.mode.IsDir() {
				continue
			}
			to := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, m.text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		outer, err := layout.ImageIndexFromPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(outer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		top, err := outer.IndexManifest()
		if err != nil || len(top.Manifests) != 1 {
			t.Fatalf("%s: %v, %v", name, top, err)
		}
		index, err := outer.ImageIndex(top.Manifests[0].Digest)
		if err != nil {
			t.Fatal(err)
		}
		inner, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		program := regexp.MustCompile(`^cosketch-([a-z]+)-`).FindStringSubmatch(filepath.Base(name))[1]
		var arches []string
		for _, d := range inner.Manifests {
			img, err := index.Image(d.Digest)
			if err != nil {
				t.Fatal(err)
			}
			arches = append(arches, d.Platform.Architecture)
			imageIs(t, name, program, d.Platform.Architecture, img)
		}
		if want := len(named(t, releaseDir(t), "cosketch-*-linux-*.tar.gz")); len(arches) != want || len(slices.Compact(slices.Sorted(slices.Values(arches)))) != want {
			t.Errorf("%s is for %q, and the release for %d architectures", name, arches, want)
		}
	}
}

func imageIs(t *testing.T, name, program, arch string, img v1.Image) {
	t.Helper()
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != arch || config.OS != "linux" || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/usr/local/bin/" + program}) {
		t.Errorf("%s: %+v", name, config)
	}
	r := mutate.Extract(img)
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	all := untar(t, text)
	looksRight(t, platform{"linux", arch}, program, all["usr/local/bin/"+program].text)
	root := t.TempDir()
	for _, file := range slices.Sorted(maps.Keys(all)) { // directories sort before their content
		m := all[file]
		if m.mode&os.ModeSetuid != 0 || (m.mode.Perm()&0o002 != 0) != (file == "tmp") || (m.uid == nobody) != (file == "var/lib/cosketch") {
			t.Errorf("%s: %s has mode %v and belongs to %d", name, file, m.mode, m.uid)
		}
		to := filepath.Join(root, file)
		if m.mode.IsDir() {
			err = os.MkdirAll(to, m.mode.Perm())
		} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			err = os.WriteFile(to, m.text, m.mode.Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := bytes.Count(all["etc/ssl/certs/ca-certificates.crt"].text, []byte("BEGIN CERTIFICATE")); n < 50 {
		t.Errorf("%s has only %d certificate roots", name, n)
	}
	if arch != runtime.GOARCH || runtime.GOOS != "linux" {
		return
	}
	if os.Getuid() != 0 {
		t.Log("not run: it needs root, to become the image's user")
		return
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(root, "var/lib/cosketch"), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{"--version": "commit", "init": "/var/lib/cosketch/" + program} {
		cmd := exec.Command(config.Config.Entrypoint[0], args)
		cmd.Env, cmd.Dir = config.Config.Env, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s %s: %v\n%s", name, args, err, out)
		}
	}
}
