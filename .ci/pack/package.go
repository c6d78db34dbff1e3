package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// user is the user of the services; the packages create it.
const user = "cosketch"

//go:embed files/*.sh files/settings
var packageFiles embed.FS

// packages writes the Debian and the RPM package of a program.
func (m *maker) packages(program string, b built, share map[string][]byte) error {
	name := "cosketch-" + program
	dir := filepath.Join(m.work, b.platform.String()+"-"+name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	settings, err := m.filled("files/settings", program)
	if err != nil {
		return err
	}
	unit, err := installedUnit(share["doc/operations/systemd/"+name+".service"], program)
	if err != nil {
		return err
	}
	manual, err := gzipped(share["man/man1/"+program+".1"])
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(m.source, "LICENSE"))
	if err != nil {
		return err
	}
	docs := "/usr/share/doc/" + name + "/"
	type put struct {
		kind, to string
		mode     os.FileMode
		text     []byte
	}
	all := []put{
		{"", "/usr/bin/" + program, 0o755, b.programs[program]},
		{"", "/usr/lib/systemd/system/" + name + ".service", 0o644, unit},
		{files.TypeConfigNoReplace, "/etc/default/" + name, 0o644, settings},
		{"", "/usr/share/man/man1/" + program + ".1.gz", 0o644, manual},
		{"", "/usr/share/bash-completion/completions/" + program, 0o644, share["completions/"+program+".bash"]},
		{"", "/usr/share/zsh/site-functions/_" + program, 0o644, share["completions/"+program+".zsh"]},
		{"", "/usr/share/fish/vendor_completions.d/" + program + ".fish", 0o644, share["completions/"+program+".fish"]},
		{"", docs + "copyright", 0o644, append(append(licence, '\n'), b.licences...)},
		{"", docs + "sbom.cdx.json", 0o644, b.sbom},
		{"", docs + "install.md", 0o644, share["doc/install.md"]},
	}
	var contents files.Contents
	for i, f := range all {
		if len(f.text) == 0 {
			return fmt.Errorf("nothing is to be put at %s", f.to)
		}
		from := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(from, f.text, 0o644); err != nil {
			return err
		}
		contents = append(contents, &files.Content{Source: from, Destination: f.to, Type: f.kind, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: m.time}})
	}
	for _, kept := range []string{"/etc/cosketch", "/var/lib/cosketch"} { // they hold keys, ledgers and tokens
		contents = append(contents, &files.Content{Destination: kept, Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Owner: user, Group: user, Mode: 0o700, MTime: m.time}})
	}
	var scripts []string
	for _, script := range []string{"preinstall", "postinstall", "preremove", "postremove"} {
		text, err := m.filled("files/"+script+".sh", program)
		if err != nil {
			return err
		}
		scripts = append(scripts, filepath.Join(dir, script))
		if err := os.WriteFile(filepath.Join(dir, script), text, 0o755); err != nil {
			return err
		}
	}
	for format, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM} {
		info := &nfpm.Info{
			Name: name, Arch: b.platform.arch, Platform: "linux", Version: m.packageVersion(), VersionSchema: "none", Release: "1",
			Section: "science", Priority: "optional", Maintainer: "Cosketch <cosketch@localhost>", License: "Apache-2.0", MTime: m.time, DisableGlobbing: true,
			Description: "Cosketch's " + program + "\nNumbers about data of several organisations, from differentially private sketches.",
			Overridables: nfpm.Overridables{
				Contents: contents,
				Scripts:  nfpm.Scripts{PreInstall: scripts[0], PostInstall: scripts[1], PreRemove: scripts[2], PostRemove: scripts[3]},
				RPM:      nfpm.RPM{BuildHost: "localhost", Summary: "Cosketch's " + program},
			},
		}
		if format == "deb" {
			info.Release, info.Deb.Predepends = "", []string{"passwd"} // passwd has useradd; the user must exist before its directories are unpacked
		} else {
			info.Depends = []string{"/usr/sbin/useradd"}
		}
		info = nfpm.WithDefaults(info)
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return err
		}
		err := write(filepath.Join(m.out, packager.ConventionalFileName(info)), func(w io.Writer) error { return packager.Package(info, w) })
		if err != nil {
			return fmt.Errorf("writing the %s: %w", format, err)
		}
	}
	return nil
}

// filled returns an embedded file, with PROGRAM replaced by the program's name and UPPER by that in
// capitals.
func (m *maker) filled(name, program string) ([]byte, error) {
	text, err := packageFiles.ReadFile(name)
	return []byte(strings.NewReplacer("PROGRAM", program, "UPPER", strings.ToUpper(program)).Replace(string(text))), err
}

var head = regexp.MustCompile(`^(?:#.*\n)+`)

// installedUnit adapts a unit of the documents, which runs a program in /usr/local, to one in /usr.
func installedUnit(unit []byte, program string) ([]byte, error) {
	text := head.ReplaceAllString(string(unit), "# To change it: systemctl edit cosketch-"+program+"\n")
	for _, change := range [][2]string{
		{"ExecStart=/usr/local/bin/", "ExecStart=/usr/bin/"},
		{"[Service]\n", "[Service]\nEnvironmentFile=-/etc/default/cosketch-" + program + "\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			return nil, fmt.Errorf("the unit of %s does not have %q once", program, change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	return []byte(text), nil
}

func gzipped(text []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
