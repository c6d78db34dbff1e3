package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user and group id in the images.
const nobody = 65532

// image writes an OCI layout as a tar, with an image of the program for each architecture. The
// image has no base: it contains no shell and no package manager.
func (m *maker) image(program string, of []built) error {
	labels := map[string]string{
		"org.opencontainers.image.title":    "cosketch-" + program,
		"org.opencontainers.image.version":  m.version,
		"org.opencontainers.image.revision": m.commit,
		"org.opencontainers.image.created":  m.time.Format(time.RFC3339),
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range of {
		img, err := m.imageOf(program, b, labels)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: b.platform.arch}}})
	}
	index, _ = mutate.Annotations(index, labels).(v1.ImageIndex)
	dir := filepath.Join(m.work, "image-"+program)
	path, err := layout.Write(dir, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": m.version})); err != nil {
		return err
	}
	files := map[string]entry{}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(within)] = entry{text: text, mode: 0o644}
		return err
	})
	if err != nil {
		return err
	}
	return write(filepath.Join(m.out, "cosketch-"+program+"-"+m.version+"-oci.tar"), func(w io.Writer) error { return tarred(w, files, m.time) })
}

// imageOf returns the image of a program for one architecture.
func (m *maker) imageOf(program string, b built, labels map[string]string) (v1.Image, error) {
	licence, err := os.ReadFile(filepath.Join(m.source, "LICENSE"))
	if err != nil {
		return nil, err
	}
	docs := "usr/share/doc/cosketch-" + program + "/"
	files := map[string]entry{
		"usr/local/bin/" + program:          {text: b.programs[program], mode: 0o755},
		"etc/ssl/certs/ca-certificates.crt": {text: roots(), mode: 0o644}, // WebSocket addresses and databases may use TLS
		docs + "LICENSE":                    {text: licence, mode: 0o644},
		docs + "LICENSES-OF-MODULES.txt":    {text: b.licences, mode: 0o644},
		docs + "sbom.cdx.json":              {text: b.sbom, mode: 0o644},
		"tmp":                               {mode: 0o1777, dir: true},
		"var/lib/cosketch":                  {mode: 0o700, owner: nobody, dir: true},
	}
	var text bytes.Buffer
	if err := tarred(&text, files, m.time); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: m.time}, CreatedBy: "cosketch"}}); err != nil {
		return nil, err
	}
	upper, state := strings.ToUpper(program), "/var/lib/cosketch/"+program
	config := v1.Config{
		User: "65532:65532", Entrypoint: []string{"/usr/local/bin/" + program}, Cmd: []string{"--help"}, Labels: labels,
		Env:     []string{"PATH=/usr/local/bin", "HOME=/var/lib/cosketch", upper + "_STATE=" + state, upper + "_CONFIG=" + state + ".yaml"},
		Volumes: map[string]struct{}{"/var/lib/cosketch": {}},
	}
	if program == "aggregator" {
		config.ExposedPorts = map[string]struct{}{"7424/tcp": {}}
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.Config, file.Created, file.OS, file.Architecture = config, v1.Time{Time: m.time}, "linux", b.platform.arch
	return mutate.ConfigFile(img, file)
}

// roots returns Mozilla's certificates, except those restricted to some names, since a file cannot
// state the restriction.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.Bytes()
}
