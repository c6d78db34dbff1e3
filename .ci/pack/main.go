// Command pack makes the files of a release from a clean clone of the project: archives, Debian and
// RPM packages, OCI images, SBOMs, and their checksums. The same commit gives the same bytes on
// every machine. It is a separate module, in a directory that the go command skips, so that the
// programs do not depend on what it needs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// programs are the shipped programs.
var programs = []string{"party", "aggregator"}

// platforms are the default platforms.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "-" + p.arch }

// file returns the name of a program's file.
func (p platform) file(program string) string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

// maker makes a release.
type maker struct {
	source, out, work string // directories of the clone, of the release, and for temporary files
	version           string // the commit's tag without its v, or the short commit
	commit            string
	time              time.Time // of the commit
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	source := flags.String("source", "", "clean clone of the project")
	out := flags.String("out", "", "directory that the release is written to")
	key := flags.String("key", "", "SSH private key that signs SHA256SUMS; without it nothing is signed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted := platforms
	if flags.NArg() > 0 {
		wanted = nil
	}
	for _, name := range flags.Args() {
		system, arch, found := strings.Cut(name, "/")
		if !found {
			return fmt.Errorf("reading platform %q: want SYSTEM/ARCHITECTURE, such as linux/amd64", name)
		}
		wanted = append(wanted, platform{system, arch})
	}
	m, err := newMaker(*source, *out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.work)) }()
	if err := m.release(wanted); err != nil {
		return err
	}
	return sum(m.out, *key)
}

func newMaker(source, out string) (*maker, error) {
	if source == "" || out == "" {
		return nil, errors.New("want --source and --out")
	}
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		return nil, fmt.Errorf("directory %q of the release is not empty, or cannot be read: %w", out, err)
	}
	m := &maker{source: source, out: out}
	seconds, err := m.git("log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("reading the commit's time %q: %w", seconds, err)
	}
	m.time = time.Unix(n, 0).UTC()
	if m.commit, err = m.git("rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	if tag, err := m.git("describe", "--tags", "--exact-match"); err == nil {
		m.version = strings.TrimPrefix(tag, "v")
	} else {
		m.version = m.commit[:12]
	}
	m.work, err = os.MkdirTemp("", "cosketch-pack-")
	return m, err
}

// packageVersion returns a version that package managers order by commit; it starts with a number.
func (m *maker) packageVersion() string {
	if m.version[0] >= '0' && m.version[0] <= '9' && strings.Contains(m.version, ".") {
		return strings.ReplaceAll(m.version, "-", "~") // a pre-release sorts before its release
	}
	return "0~" + m.time.Format("20060102150405") + "." + m.version
}

// release makes all files of a release except the checksums.
func (m *maker) release(wanted []platform) error {
	share, err := m.shared()
	if err != nil {
		return err
	}
	images := map[string][]built{}
	for _, p := range wanted {
		b, err := m.build(p)
		if err != nil {
			return err
		}
		name := "cosketch-" + m.version + "-" + p.String()
		if err := os.WriteFile(filepath.Join(m.out, name+".cdx.json"), b.sbom, 0o644); err != nil {
			return err
		}
		if err := m.archive(name, b, share); err != nil {
			return fmt.Errorf("making the archive for %v: %w", p, err)
		}
		if p.os != "linux" {
			continue
		}
		for _, program := range programs {
			if err := m.packages(program, b, share); err != nil {
				return fmt.Errorf("packaging %s for %v: %w", program, p, err)
			}
			images[program] = append(images[program], b)
		}
	}
	for program, of := range images {
		if err := m.image(program, of); err != nil {
			return fmt.Errorf("making the image of %s: %w", program, err)
		}
	}
	return nil
}

func (m *maker) git(args ...string) (string, error) {
	return said(exec.Command("git", append([]string{"-C", m.source}, args...)...))
}

// said runs a command and returns its output.
func said(cmd *exec.Cmd) (string, error) {
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %q: %w\n%s", cmd.Args, err, complaint.String())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
