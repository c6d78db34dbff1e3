package store

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// A backup is a tar file. Its first entry, "cosketch-backup", names format and role; then come the
// node's files; the last, "SHA256SUMS", has their hashes, so that truncation is noticed. It leaves
// out what must not outlive its purpose, such as secrets/, held/ and locks/.
const (
	backupFormat = "cosketch/backup/1"
	backupHead   = "cosketch-backup"
	backupSums   = "SHA256SUMS"
)

// ErrBackup reports a file that is not a complete backup of a node of this role.
var ErrBackup error = fail.NotABackup

// BackupReport counts what a backup holds.
type BackupReport struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"` // of the files
}

// Backup writes a consistent copy of the node's state, even while the node runs. It contains the
// identity: whoever reads it can act as the node. It leaves out the secrets of running studies on
// purpose, so a party restored from it takes no further part in those.
func (s *Store) Backup(w io.Writer) (BackupReport, error) {
	report, err := s.backup(w)
	if err != nil {
		return report, fmt.Errorf("backing up %q: %w", s.dir, err)
	}
	return report, nil
}

func (s *Store) backup(w io.Writer) (report BackupReport, err error) {
	if err := s.writable(); err != nil { // the database is copied into the state directory first
		return report, err
	}
	staging, err := os.MkdirTemp(s.dir, "backup.*.tmp")
	if err != nil {
		return report, err
	}
	defer os.RemoveAll(staging)
	snapshot := filepath.Join(staging, databaseFile)
	from, err := s.freeze(snapshot, staging)
	if err != nil {
		return report, explain(err)
	}
	out := &backupWriter{tar: tar.NewWriter(w)}
	if err := out.bytes(backupHead, []byte(backupFormat+"\n"+string(s.role)+"\n")); err != nil {
		return report, err
	}
	out.report = BackupReport{}
	if err := out.file(databaseFile, snapshot); err != nil {
		return report, err
	}
	for _, name := range []string{ledgerFile, hpkeFile, identityFile} {
		if name == hpkeFile && s.role != Aggregator {
			continue
		}
		if err := out.file(name, s.path(name)); err != nil {
			return report, err
		}
	}
	debits, err := debitsOf(snapshot)
	if err != nil {
		return report, err
	}
	for _, dir := range backedUp() {
		at := s.dir
		if dir == resultsDir {
			at = from
		}
		if err := out.dir(at, dir, func(name string) bool { return dir != releasesDir || backedUpRelease(debits, name) }); err != nil {
			return report, err
		}
	}
	report = out.report
	if err := out.bytes(backupSums, []byte(out.sums.String())); err != nil {
		return report, err
	}
	if err := out.tar.Close(); err != nil {
		return report, err
	}
	return report, s.Note(journal.Entry{At: now(), Event: journal.BackedUp, Bytes: report.Bytes, Note: fmt.Sprintf("%d files, the identity among them", report.Files)})
}

// mostTries bounds how often the database is copied again because results changed meanwhile.
const mostTries = 10

// freeze copies the database and hard-links the result files as they were at that time: boards and
// stored results must match. It returns the directory with the results. All other files are written
// before the database refers to them.
func (s *Store) freeze(snapshot, staging string) (from string, err error) {
	for range mostTries {
		before, err := s.listResults(s.dir)
		if err != nil {
			return "", err
		}
		if err := snapshotDatabase(s.db, snapshot); err != nil {
			return "", err
		}
		if err := s.linkResults(before, staging); errors.Is(err, fs.ErrNotExist) {
			continue // one was removed meanwhile
		} else if err != nil {
			return s.dir, nil // no hard links here: results are copied as they are later
		}
		after, err := s.listResults(s.dir)
		if err != nil {
			return "", err
		}
		if maps.EqualFunc(before, after, os.SameFile) {
			return staging, nil
		}
	}
	return staging, nil // results keep changing: use those from before the copy of the database
}

// listResults returns the result files below a directory, by name.
func (s *Store) listResults(dir string) (map[string]fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out := map[string]fs.FileInfo{}
	err = walkDir(root, resultsDir, func(name string, _ int64) error {
		info, err := root.Lstat(name)
		out[name] = info
		return err
	})
	return out, err
}

// linkResults hard-links the result files below staging, replacing those of an earlier try.
func (s *Store) linkResults(files map[string]fs.FileInfo, staging string) error {
	if err := os.RemoveAll(filepath.Join(staging, resultsDir)); err != nil {
		return err
	}
	for name := range files {
		to := filepath.Join(staging, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.Link(s.path(filepath.FromSlash(name)), to); err != nil {
			return err
		}
	}
	return nil
}

// debitsOf reads the ledger from a copy of a database.
func debitsOf(copied string) ([]ledger.Entry, error) {
	db, err := openForReading(copied)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return readLedger(context.Background(), db)
}

// backedUp returns the directories whose files a backup holds.
func backedUp() []string { return []string{releasesDir, uploadsDir, sealedDir, resultsDir} }

// backupWriter writes files one after the other and hashes them.
type backupWriter struct {
	tar    *tar.Writer
	sums   strings.Builder
	report BackupReport
}

func (b *backupWriter) bytes(name string, data []byte) error {
	return b.stream(name, int64(len(data)), strings.NewReader(string(data)))
}

// dir copies the files of directory dir below at for which wanted returns true.
func (b *backupWriter) dir(at, dir string, wanted func(name string) bool) error {
	root, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer root.Close()
	return walkDir(root, dir, func(name string, _ int64) error {
		if !wanted(name) {
			return nil
		}
		return b.file(name, filepath.Join(at, filepath.FromSlash(name)))
	})
}

func (b *backupWriter) file(name, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return b.stream(name, info.Size(), f)
}

func (b *backupWriter) stream(name string, size int64, from io.Reader) error {
	if err := b.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatPAX}); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(b.tar, hash), io.LimitReader(from, size)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(&b.sums, "%x  %s\n", hash.Sum(nil), name)
	b.report.Files++
	b.report.Bytes += size
	return nil
}

// walkDir calls each with the slash-separated names of the files below a directory of root,
// skipping temporary files of interrupted writes. A missing directory is empty.
func walkDir(root *os.Root, dir string, each func(name string, size int64) error) error {
	if _, err := root.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(name, ".tmp") && d.IsDir():
			return fs.SkipDir
		case strings.HasSuffix(name, ".tmp") || !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return each(name, info.Size())
	})
}

func walkFiles(root *os.Root, each func(name string, size int64) error) error {
	return walkDir(root, ".", each)
}

// restoringDir is where Restore builds a state directory before it moves the files in place.
const restoringDir = ".restoring"

// Restore makes a state directory from a backup. The directory must be new or empty; its identity
// is put in place last. If a party's ledger had entries after the backup, the aggregators that
// countersigned it refuse the party.
func Restore(dir string, role Role, from io.Reader) (BackupReport, error) {
	report, err := restore(dir, role, from)
	if err != nil {
		return report, fmt.Errorf("restoring the %s's state directory %q: %w", role, dir, err)
	}
	return report, nil
}

func restore(dir string, role Role, from io.Reader) (report BackupReport, err error) {
	if err := durable.Mkdir(dir); err != nil {
		return report, err
	}
	info, err := os.Stat(dir)
	if err == nil {
		err = private.Check(dir, info)
	}
	if err == nil {
		err = private.Owned(dir, info)
	}
	if err != nil {
		return report, err
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return report, err
	}
	for _, e := range there {
		if e.Name() != restoringDir { // left by a Restore that was killed
			return report, fmt.Errorf("it has files already, such as %s: name a new one with --state", e.Name())
		}
	}
	staging := filepath.Join(dir, restoringDir)
	if err := os.RemoveAll(staging); err != nil {
		return report, err
	}
	if err := durable.Mkdir(staging); err != nil {
		return report, err
	}
	if report, err = unpack(role, from, func(name string, from io.Reader) error {
		file := filepath.Join(staging, filepath.FromSlash(name))
		if err := durable.Mkdir(filepath.Dir(file)); err != nil {
			return err
		}
		return durable.New(file, from)
	}); err != nil {
		return report, errors.Join(err, os.RemoveAll(staging))
	}
	if err := durable.SyncTree(staging); err != nil {
		return report, err
	}
	if err := settle(dir, staging); err != nil {
		return report, err
	}
	s, err := Open(dir, role, Options{})
	if err != nil {
		return report, err
	}
	defer s.Close()
	if err := s.beginLedgerHead(); err != nil {
		return report, err
	}
	return report, s.Note(journal.Entry{At: now(), Event: journal.Restored, Bytes: report.Bytes, Note: fmt.Sprintf("%d files", report.Files)})
}

// settle moves the unpacked files in place, the identity last.
func settle(dir, staging string) error {
	entries, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	names := []string{secretsDir, releasesDir, uploadsDir, resultsDir, locksDir}
	for _, name := range names {
		if err := durable.Mkdir(filepath.Join(staging, name)); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) && e.Name() != identityFile {
			names = append(names, e.Name())
		}
	}
	for _, name := range append(names, identityFile) {
		if err := durable.Rename(filepath.Join(staging, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return os.Remove(staging)
}

// unpack passes a backup's files to put and checks them against its sums.
func unpack(role Role, from io.Reader, put func(name string, from io.Reader) error) (report BackupReport, err error) {
	begins := bufio.NewReaderSize(from, sniff.HeadSize)
	seen, err := begins.Peek(sniff.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return report, fmt.Errorf("reading the backup: %w", err)
	}
	seen = bytes.Clone(seen)
	in := tar.NewReader(begins)
	first, err := in.Next()
	if err != nil || first.Name != backupHead || first.Size > 1<<10 {
		return report, fail.NotABackup.Of(fmt.Errorf("it is %s", sniff.Describe(seen))).With(fmt.Sprintf("want what %s backup wrote", role))
	}
	head, err := io.ReadAll(in)
	if err != nil {
		return report, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	if err := checkBackupHead(head, role); err != nil {
		return report, err
	}
	sums := map[string]protocol.Digest{}
	for {
		h, err := in.Next()
		if err != nil { // including io.EOF, since the sums must still come
			return report, fmt.Errorf("%w: it ends after %d files: it was truncated when it was written or copied: %w", ErrBackup, report.Files, err)
		}
		if h.Name == backupSums {
			sums[backupHead] = sha256.Sum256(head)
			return report, compareSums(in, sums)
		}
		if err := checkBackupName(h); err != nil {
			return report, err
		}
		hash := sha256.New()
		if err := put(h.Name, io.TeeReader(in, hash)); err != nil {
			var disk *fs.PathError
			if errors.As(err, &disk) && !errors.Is(err, fs.ErrExist) {
				return report, err
			}
			return report, fmt.Errorf("%w: %q: %w", ErrBackup, h.Name, err)
		}
		sums[h.Name] = protocol.Digest(hash.Sum(nil))
		report.Files++
		report.Bytes += h.Size
	}
}

// checkBackupHead refuses a backup of another format or role.
func checkBackupHead(head []byte, role Role) error {
	format, rest, _ := strings.Cut(string(head), "\n")
	of, rest, _ := strings.Cut(rest, "\n")
	switch {
	case format != backupFormat:
		return fmt.Errorf("%w: its format is %.40q, and this program reads %s", ErrBackup, format, backupFormat)
	case of == string(role) && rest == "":
		return nil
	case rest == "" && (of == string(Party) || of == string(Aggregator)):
		return fail.NotABackup.Of(fmt.Errorf("it is a backup of a node of role %s", of)).With(fmt.Sprintf("restore it with %s advanced restore", of))
	}
	return fmt.Errorf("%w: its first lines are %.60q", ErrBackup, head)
}

// checkBackupName accepts only the files that Backup writes.
func checkBackupName(h *tar.Header) error {
	top, below, nested := strings.Cut(h.Name, "/")
	plain := path.Clean(h.Name) == h.Name && filepath.IsLocal(filepath.FromSlash(h.Name)) && !strings.Contains(h.Name, `\`)
	known := !nested && slices.Contains([]string{databaseFile, ledgerFile, hpkeFile, identityFile}, top) ||
		nested && below != "" && slices.Contains(backedUp(), top)
	sparse := slices.ContainsFunc(slices.Collect(maps.Keys(h.PAXRecords)), func(key string) bool { return strings.HasPrefix(key, "GNU.sparse") })
	if h.Typeflag != tar.TypeReg || sparse || !plain || !known { // a small sparse file can fill a disk
		return fmt.Errorf("%w: %q does not belong into one", ErrBackup, h.Name)
	}
	return nil
}

func compareSums(in io.Reader, have map[string]protocol.Digest) error {
	lines := bufio.NewScanner(in)
	count := 0
	for lines.Scan() {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		raw, err := hex.DecodeString(sum)
		if got, there := have[name]; err != nil || !there || string(raw) != string(got[:]) {
			return fmt.Errorf("%w: %q is missing or damaged", ErrBackup, name)
		}
		count++
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrBackup, err)
	}
	if count != len(have) {
		return fmt.Errorf("%w: %d files have no checksum", ErrBackup, len(have)-count)
	}
	return nil
}
