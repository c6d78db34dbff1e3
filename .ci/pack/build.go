package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// built holds the programs of one platform, by name, with their modules, licences and SBOM.
type built struct {
	platform platform
	programs map[string][]byte
	modules  []module // linked into one program or both
	licences []byte   // licence texts of the modules
	sbom     []byte
}

// build compiles the programs for a platform.
func (m *maker) build(p platform) (built, error) {
	dir := filepath.Join(m.work, p.String())
	if err := m.compile(p, dir); err != nil {
		return built{}, err
	}
	b := built{platform: p, programs: map[string][]byte{}}
	infos := map[string]*debug.BuildInfo{}
	for _, program := range programs {
		file, err := os.ReadFile(filepath.Join(dir, p.file(program)))
		if err != nil {
			return built{}, err
		}
		if infos[program], err = buildinfo.Read(bytes.NewReader(file)); err != nil {
			return built{}, fmt.Errorf("reading what %s for %v is made of: %w", program, p, err)
		}
		b.programs[program] = file
	}
	var err error
	if b.modules, err = m.modules(infos); err != nil {
		return built{}, err
	}
	b.licences = licenceTexts(b.modules)
	b.sbom, err = m.sbom(b)
	return b, err
}

// compile builds both programs. The tag leaves out a second JSON parser of 1.4 MB, which Arrow
// would link.
func (m *maker) compile(p platform, dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-tags=arrow_json_stdlib", "-ldflags=-s -w -buildid=", "-o", dir+"/", "./cmd/party", "./cmd/aggregator")
	cmd.Dir = m.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GOEXPERIMENT=", "GOOS="+p.os, "GOARCH="+p.arch)
	if _, err := said(cmd); err != nil {
		return fmt.Errorf("building for %v: %w", p, err)
	}
	return nil
}

// shared returns the files that are equal for all platforms, by name below share/: documents, and
// manuals and completions, which programs built for this machine print.
func (m *maker) shared() (map[string][]byte, error) {
	dir := filepath.Join(m.work, "tools")
	if err := m.compile(platform{runtime.GOOS, runtime.GOARCH}, dir); err != nil {
		return nil, err
	}
	share := map[string][]byte{}
	for _, program := range programs {
		print := map[string][]string{"man/man1/" + program + ".1": {"advanced", "manual"}}
		for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
			print["completions/"+program+"."+shell] = []string{"advanced", "completion", shell}
		}
		for name, args := range print {
			cmd := exec.Command(filepath.Join(dir, program), args...)
			cmd.Env = []string{"HOME=" + m.work} // no settings of this machine
			text, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("running %s %s: %w", program, args[0], err)
			}
			share[name] = text
		}
	}
	docs := os.DirFS(filepath.Join(m.source, "docs"))
	err := fs.WalkDir(docs, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || !strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "operations/") {
			return nil
		}
		share["doc/"+name], err = fs.ReadFile(docs, name)
		return err
	})
	return share, err
}
