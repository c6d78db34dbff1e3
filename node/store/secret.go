package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
)

// PutSecret stores the secrets of one attempt in a separate file. It replaces and erases an earlier
// one. Durable when it returns nil.
func (s *Store) PutSecret(study protocol.StudyID, attempt uint32, data []byte) error {
	if err := s.putSecret(s.secretPath(study, attempt), data); err != nil {
		return fmt.Errorf("storing the secrets of attempt %d of study %s: %w", attempt, study.Short(), err)
	}
	return nil
}

func (s *Store) putSecret(path string, data []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	// Old secrets keep a name until they are erased, so that after a crash they can still be found.
	before := path + ".before.tmp"
	if err := eraseOther(before, path); err != nil {
		return err
	}
	switch err := os.Link(path, before); {
	case errors.Is(err, fs.ErrNotExist), err == nil: // no old secrets, or they now have two names
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission): // no hard links here: better no secrets than ones that are never erased
		if err := eraseFile(path); err != nil {
			return err
		}
	default:
		return err
	}
	err := writeFile(path, sealed(data))
	return errors.Join(err, eraseOther(before, path), durable.SyncDir(filepath.Dir(path)))
}

// eraseOther erases and removes the file that path named before. If path still names it, it only
// removes the other name.
func eraseOther(before, path string) error {
	old, err := os.Lstat(before)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if now, err := os.Lstat(path); err == nil && os.SameFile(old, now) {
		return os.Remove(before)
	}
	return eraseFile(before)
}

// writeFile atomically and durably writes a file with mode 0600.
func writeFile(path string, data []byte) error {
	return durable.Replace(path, durable.Private, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// Secret returns the secrets of an attempt, or ErrNotFound if none were stored or they were
// destroyed.
func (s *Store) Secret(study protocol.StudyID, attempt uint32) ([]byte, error) {
	data, err := readSealed(s.secretPath(study, attempt))
	if err != nil {
		return nil, fmt.Errorf("secrets of attempt %d of study %s: %w", attempt, study.Short(), missing(err))
	}
	return data, nil
}

// sealMark begins a file of secrets; a hash of the rest follows. Nobody else has the bytes, so
// nothing else could show damage. Files of older nodes lack it.
const sealMark = "cosketch/secrets/1\n"

func sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return slices.Concat([]byte(sealMark), sum[:], data)
}

// mostSecret is larger than any file of secrets, in bytes.
const mostSecret = 16 << 20

// errSeal reports secrets that differ from what was written.
var errSeal = errors.New("it is not as it was written: the disk fails, or somebody changed it")

func readSealed(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > mostSecret {
		return nil, errSeal
	}
	raw, err := private.Read(path)
	if err != nil {
		return nil, err
	}
	if len(raw) > 0 && len(bytes.Trim(raw, "\x00")) == 0 {
		return nil, fs.ErrNotExist // a process was killed between erasing and removing it
	}
	rest, marked := bytes.CutPrefix(raw, []byte(sealMark))
	if !marked {
		return raw, nil
	}
	if len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != [sha256.Size]byte(rest[:sha256.Size]) {
		return nil, errSeal
	}
	return rest[sha256.Size:], nil
}

// CheckSecrets verifies every file of secrets and returns their number.
func (s *Store) CheckSecrets() (count int, err error) {
	files, err := os.ReadDir(s.path(secretsDir))
	if err != nil {
		return 0, fmt.Errorf("looking through secrets: %w", err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".tmp") {
			continue // left by a process that was killed
		}
		_, err := readSealed(s.path(secretsDir, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // erased
		}
		if err != nil {
			return count, fmt.Errorf("%s/%s: %w", secretsDir, f.Name(), err)
		}
		count++
	}
	return count, nil
}

// DestroySecrets overwrites and removes the secrets of every attempt of a study. It is no error if
// there are none. When it returns nil they are gone for good as far as the file system knows. Below
// it they may live on: flash memory, copy-on-write file systems, snapshots and swap keep old blocks
// that no program can reach. So disks that hold this directory should be encrypted.
func (s *Store) DestroySecrets(study protocol.StudyID) error {
	if err := s.destroySecrets(study); err != nil {
		return fmt.Errorf("destroying the secrets of study %s: %w", study.Short(), err)
	}
	return nil
}

func (s *Store) destroySecrets(study protocol.StudyID) error {
	if err := s.writable(); err != nil {
		return err
	}
	files, err := os.ReadDir(s.path(secretsDir))
	if err != nil {
		return err
	}
	for _, file := range files {
		// Temporary files of a writer that was killed have this prefix too.
		if !strings.HasPrefix(file.Name(), study.String()+"-") {
			continue
		}
		if err := s.destroySecret(s.path(secretsDir, file.Name())); err != nil {
			return err
		}
	}
	return nil
}

// DestroySecret overwrites and removes the secrets of one attempt, with the guarantee of
// DestroySecrets. It is no error if there are none.
func (s *Store) DestroySecret(study protocol.StudyID, attempt uint32) error {
	err := s.writable()
	if err == nil {
		err = s.destroySecret(s.secretPath(study, attempt))
	}
	if err != nil {
		return fmt.Errorf("destroying the secrets of attempt %d of study %s: %w", attempt, study.Short(), err)
	}
	return nil
}

// secretFile is a file of secrets of a study, separate from those of its attempts.
type secretFile struct {
	*Store
	study      protocol.StudyID
	what, name string // in messages; name of the file
}

func (a secretFile) path() string { return a.Store.path(secretsDir, a.name) }

func (a secretFile) put(data []byte) error {
	if err := a.putSecret(a.path(), data); err != nil {
		return fmt.Errorf("storing %s of study %s: %w", a.what, a.study.Short(), err)
	}
	return nil
}

func (a secretFile) read() ([]byte, error) {
	data, err := readSealed(a.path())
	if err != nil {
		return nil, fmt.Errorf("%s of study %s: %w", a.what, a.study.Short(), missing(err))
	}
	return data, nil
}

func (a secretFile) destroy() error {
	err := a.writable()
	if err == nil {
		err = a.destroySecret(a.path())
	}
	if err != nil {
		return fmt.Errorf("destroying %s of study %s: %w", a.what, a.study.Short(), err)
	}
	return nil
}

func (s *Store) destroySecret(path string) error {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, f := range files { // including temporary files of a writer that was killed
		if rest, of := strings.CutPrefix(f.Name(), filepath.Base(path)); of && (rest == "" || strings.HasPrefix(rest, ".") && strings.HasSuffix(rest, ".tmp")) {
			if err := eraseFile(filepath.Join(filepath.Dir(path), f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return durable.SyncDir(s.path(secretsDir))
}

// eraseFile overwrites and removes a file. The removal is durable once the directory is synced.
func eraseFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(erase(f), f.Close()); err != nil {
		return err
	}
	return os.Remove(path)
}

// erase overwrites a newly opened file with zeros in place, and syncs it.
func erase(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := io.CopyN(f, zeros{}, info.Size()); err != nil {
		return err
	}
	return f.Sync()
}

// zeros is an endless stream of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (s *Store) secretPath(study protocol.StudyID, attempt uint32) string {
	return s.path(secretsDir, study.String()+"-"+strconv.FormatUint(uint64(attempt), 10))
}
