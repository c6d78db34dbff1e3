package store

import (
	"crypto/ed25519"
	"crypto/hpke"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Options of Open.
type Options struct {
	// ReadOnly opens the store for reading, even while a daemon runs or if the disk is read-only or
	// full. Writes fail. Default: false.
	ReadOnly bool
}

// Store is an open state directory. It is safe for concurrent use.
type Store struct {
	dir      string
	role     Role
	readOnly bool
	db       *sql.DB
	// The keys are wrapped in functions so that fmt never prints them, whatever the verb and
	// wherever the Store is embedded.
	identity func() ed25519.PrivateKey
	hpke     func() hpke.PrivateKey
	ledgerID ledgerID
	debiting chan struct{} // semaphore, held from reading the ledger until its head is stored
}

// Open opens a state directory that Create made for this role. It refuses a directory without an
// identity, key files that others can read, a missing or foreign ledger, and a database of a newer
// program.
func Open(dir string, role Role, opts Options) (*Store, error) {
	s := &Store{dir: dir, role: role, readOnly: opts.ReadOnly, debiting: make(chan struct{}, 1)}
	if err := s.open(); err != nil {
		if s.db != nil {
			s.db.Close()
		}
		return nil, fmt.Errorf("opening the %s's state directory %q: %w", role, dir, err)
	}
	return s, nil
}

func (s *Store) open() error {
	if err := s.checkDir(); err != nil {
		return err
	}
	if err := s.readKeys(); err != nil {
		return err
	}
	text, err := private.Read(s.path(ledgerFile))
	if errors.Is(err, private.ErrOpen) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err != nil {
		return fail.LedgerMissing.Of(err).With(ledgerLost(s.role))
	}
	if s.ledgerID, err = parseLedgerID(text); err != nil {
		return fail.LedgerMissing.Of(err).With(ledgerLost(s.role))
	}
	if err := requireFile(s.path(databaseFile)); err != nil {
		return fail.LedgerMissing.Of(err).With(ledgerLost(s.role))
	}
	open := openDatabase
	if s.readOnly {
		open = openForReading
	}
	if s.db, err = open(s.path(databaseFile)); err != nil {
		return s.unwritable(err)
	}
	if !s.readOnly {
		older, err := migrate(s.db, s.path(databaseFile))
		if err == nil && older {
			err = s.beginLedgerHead()
		}
		if err != nil {
			return s.unwritable(err)
		}
	}
	if err := checkDatabase(s.db, s.role, s.ledgerID); err != nil {
		return s.unwritable(err)
	}
	return s.unwritable(s.checkLedger())
}

// checkDir distinguishes a missing directory, a damaged one, and one that this user may not use.
func (s *Store) checkDir() error {
	hint := fmt.Sprintf("run `%s init` first, or name the directory with --state", s.role)
	info, err := os.Stat(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail.NoState.New().With(hint)
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("not a directory")
	}
	if err := private.Check(s.dir, info); err != nil {
		return err
	}
	if !s.readOnly {
		if err := private.Owned(s.dir, info); err != nil {
			return err
		}
		if err := mayWrite(s.dir); err != nil {
			return err
		}
	}
	if err := requireFile(s.path(identityFile)); err != nil {
		if requireFile(s.path(databaseFile)) == nil {
			return fmt.Errorf("%w: the state is there but its identity is not (restore it from a backup)", err)
		}
		if errors.Is(err, fs.ErrPermission) {
			return err // it exists, but this user may not read it
		}
		return fail.NoState.Of(err).With(hint)
	}
	return nil
}

func (s *Store) readKeys() error {
	text, err := private.Read(s.path(identityFile))
	if err != nil {
		return err
	}
	identity, err := parseIdentity(text)
	if err != nil {
		return fmt.Errorf("reading %s: %w", identityFile, err)
	}
	s.identity = func() ed25519.PrivateKey { return identity }
	s.hpke = func() hpke.PrivateKey { return nil }
	if s.role != Aggregator {
		return nil
	}
	if text, err = private.Read(s.path(hpkeFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w (a party's directory has none: is this the aggregator's?)", err)
		}
		return err
	}
	key, err := parseHPKE(text)
	if err != nil {
		return fmt.Errorf("reading %s: %w", hpkeFile, err)
	}
	s.hpke = func() hpke.PrivateKey { return key }
	return nil
}

// Dir returns the state directory, for temporary files.
func (s *Store) Dir() string { return s.dir }

func (s *Store) Role() Role { return s.role }

// Format prints only the role, for every verb.
func (s *Store) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "%s's state directory", s.role) }

// Close closes the database. Locks stay held.
func (s *Store) Close() error { return s.db.Close() }

func (s *Store) Identity() ed25519.PrivateKey { return s.identity() }

// ID returns the node's public identity.
func (s *Store) ID() (protocol.PeerID, error) {
	return protocol.PeerIDFromKey(s.identity().Public().(ed25519.PublicKey))
}

// HPKE returns the aggregator's private key, to which files are sealed; nil for a party.
func (s *Store) HPKE() hpke.PrivateKey { return s.hpke() }

func (s *Store) path(elements ...string) string {
	return filepath.Join(append([]string{s.dir}, elements...)...)
}

// writable returns ErrReadOnly if the store is read-only. It is for methods that write files; the
// database checks itself.
func (s *Store) writable() error {
	if s.readOnly {
		return ErrReadOnly
	}
	return nil
}

func requireFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	return nil
}
