package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol"
)

// headerFile is the name of the file with a release's header.
const headerFile = "header"

// Release is what a party sends in a study. It must be stored before any of it is sent.
type Release struct {
	Header []byte               // opaque, required
	Files  map[string]io.Reader // by name, such as "sketch-0.bin"; each is read once, to its end
}

// SaveRelease stores a study's release: its header and all files are durable if it returns nil, and
// nothing is stored otherwise. There is one release per study. Storing it again with an equal
// header is a no-op; with another header it is ErrConflict and the stored release stays, until
// DropRelease. Callers must hold the study's lock.
func (s *Store) SaveRelease(study protocol.StudyID, release Release) error {
	if err := s.saveRelease(study, release); err != nil {
		return fmt.Errorf("storing the release of study %s: %w", study.Short(), err)
	}
	return nil
}

func (s *Store) saveRelease(study protocol.StudyID, release Release) error {
	if err := s.writable(); err != nil {
		return err
	}
	switch _, err := s.Purged(study); {
	case err == nil:
		return fmt.Errorf("%w: the study's release was drawn, and removed at its date", ErrConflict)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	switch before, err := s.ReleaseHeader(study); {
	case err == nil && bytes.Equal(before, release.Header):
		return nil
	case err == nil:
		return fmt.Errorf("%w: a release was drawn before and is the only one", ErrConflict)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	return s.putRelease(s.path(releasesDir, study.String()), release)
}

// DropRelease removes a study's release of which nothing will be sent any more, such as that of a
// void masked sum. It is no error if there is none. When it returns nil, another release may be
// stored. Callers must hold the study's lock.
func (s *Store) DropRelease(study protocol.StudyID) error {
	if err := s.dropRelease(s.path(releasesDir, study.String())); err != nil {
		return fmt.Errorf("dropping the release of study %s: %w", study.Short(), err)
	}
	return nil
}

// dropRelease removes the directory of a release or query.
func (s *Store) dropRelease(dir string) error {
	if err := s.writable(); err != nil {
		return err
	}
	staging := dir + ".tmp"
	if err := os.RemoveAll(staging); err != nil { // left by a process that was killed here
		return err
	}
	// Rename first, so that it is never seen half removed.
	switch err := durable.Rename(dir, staging); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return os.RemoveAll(staging)
}

// putRelease atomically creates a directory with everything in a release.
func (s *Store) putRelease(dir string, release Release) error {
	staging := dir + ".tmp"
	if err := os.RemoveAll(staging); err != nil { // left by a process that was killed here
		return err
	}
	if err := durable.Mkdir(staging); err != nil {
		return err
	}
	if err := fillRelease(staging, release); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	if err := durable.Rename(staging, dir); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	return nil
}

func fillRelease(dir string, release Release) error {
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(release.Files)) {
		if err := checkName(name); err != nil {
			return err
		}
		if err := summedFile(&sums, dir, name, release.Files[name]); err != nil {
			return err
		}
	}
	if err := summedFile(&sums, dir, headerFile, bytes.NewReader(release.Header)); err != nil {
		return err
	}
	if err := durable.New(filepath.Join(dir, sumsFile), strings.NewReader(sums.String())); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

// sumsFile has the hash of each file of a release, including files that no header mentions because
// they are never sent. Releases of older nodes lack it.
const sumsFile = "sums"

func summedFile(sums *strings.Builder, dir, name string, from io.Reader) error {
	hash := sha256.New()
	if err := durable.New(filepath.Join(dir, name), io.TeeReader(from, hash)); err != nil {
		return err
	}
	fmt.Fprintf(sums, "%x  %s\n", hash.Sum(nil), name)
	return nil
}

// CheckReleases compares every file of every release and query with its hash, and returns how many
// releases and queries there are. A file of sums may be missing only where summed, given the
// directory's name, returns false: older nodes wrote none.
func (s *Store) CheckReleases(summed func(dir string) bool) (count int, err error) {
	dirs, err := os.ReadDir(s.path(releasesDir))
	if err != nil {
		return 0, fmt.Errorf("looking through releases: %w", err)
	}
	for _, d := range dirs {
		if strings.HasSuffix(d.Name(), ".tmp") {
			continue // left by a process that was killed
		}
		if err := compareRelease(s.path(releasesDir, d.Name()), summed(d.Name())); err != nil {
			return count, fmt.Errorf("%s/%s: %w", releasesDir, d.Name(), err)
		}
		count++
	}
	return count, nil
}

func compareRelease(dir string, summed bool) error {
	if _, err := os.Stat(filepath.Join(dir, headerFile)); err != nil {
		return fmt.Errorf("its header is gone: %w", missing(err))
	}
	text, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if errors.Is(err, fs.ErrNotExist) && !summed {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", sumsFile, missing(err))
	}
	if len(text) == 0 || text[len(text)-1] != '\n' {
		return fmt.Errorf("%s is cut off", sumsFile)
	}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if name != headerFile && checkName(name) != nil {
			return fmt.Errorf("%s is damaged", sumsFile)
		}
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("%s: %w", name, missing(err))
		}
		hash := sha256.New()
		_, err = io.Copy(hash, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if hex.EncodeToString(hash.Sum(nil)) != sum {
			return fmt.Errorf("%s is not as it was written", name)
		}
	}
	return nil
}

// ReleaseHeader returns the header of a study's stored release, or ErrNotFound.
func (s *Store) ReleaseHeader(study protocol.StudyID) ([]byte, error) {
	header, err := s.Release(study).Header()
	if err != nil {
		return nil, fmt.Errorf("release of study %s: %w", study.Short(), err)
	}
	return header, nil
}

// Release returns the directory of a study's release, which need not exist.
func (s *Store) Release(study protocol.StudyID) ReleaseDir {
	return ReleaseDir(s.path(releasesDir, study.String()))
}

// ReleaseDir is a directory with a release as SaveRelease stores it; it may be a copy from a
// backup.
type ReleaseDir string

// Header returns the release's header, or ErrNotFound.
func (d ReleaseDir) Header() ([]byte, error) {
	header, err := os.ReadFile(filepath.Join(string(d), headerFile))
	return header, missing(err)
}

// Open opens a file of the release, or returns ErrNotFound.
func (d ReleaseDir) Open(name string) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return openFile(filepath.Join(string(d), name))
}

// File is an open file. Its ReadAt is safe for concurrent use.
type File struct {
	*io.SectionReader
	closer io.Closer
}

func (f *File) Close() error { return f.closer.Close() }

// OpenReleaseFile opens a file of a study's release, or returns ErrNotFound.
func (s *Store) OpenReleaseFile(study protocol.StudyID, name string) (*File, error) {
	f, err := s.Release(study).Open(name)
	if err != nil {
		return nil, fmt.Errorf("file %q of the release of study %s: %w", name, study.Short(), err)
	}
	return f, nil
}

func openFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, missing(err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{SectionReader: io.NewSectionReader(f, 0, info.Size()), closer: f}, nil
}

// missing turns a file's absence into ErrNotFound.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return err
}

// checkName accepts file names that every system allows and that stay in their directory:
// lower-case letters, digits, dot, dash and underscore, no leading dot.
func checkName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789.-_"
	if name == "" || len(name) > 100 || name[0] == '.' || name == headerFile || strings.HasSuffix(name, ".tmp") ||
		strings.Trim(name, allowed) != "" {
		return fmt.Errorf("file name %.120q: want 1 to 100 of %q, not beginning with a dot nor ending in .tmp, and not %q", name, allowed, headerFile)
	}
	return nil
}
