package store

import (
	"crypto/ed25519"
	"crypto/hpke"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
)

// stagingDir is where Create builds files before it moves them in place.
const stagingDir = ".creating"

// Create makes a state directory with a new identity and an empty ledger; dir may exist if it is
// empty. It never replaces an existing identity, database or ledger. The identity is put in place
// last: a directory that has one is complete and durable. Create reads 96 bytes of entropy for an
// aggregator and 64 for a party; entropy must be cryptographically secure.
func Create(dir string, role Role, entropy io.Reader) error {
	if err := create(dir, role, entropy); err != nil {
		return fmt.Errorf("creating the %s's state directory %q: %w", role, dir, err)
	}
	return nil
}

func create(dir string, role Role, entropy io.Reader) error {
	if role != Party && role != Aggregator {
		return fmt.Errorf("unknown role %q", role)
	}
	if err := durable.Mkdir(dir); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := private.Check(dir, info); err != nil {
		return err
	}
	if err := private.Owned(dir, info); err != nil {
		return err
	}
	unlock, err := lockCreate(dir)
	if err != nil {
		return err
	}
	defer unlock()

	files := []string{databaseFile, ledgerFile, hpkeFile, identityFile}
	if role == Party {
		files = []string{databaseFile, ledgerFile, identityFile}
	}
	for _, name := range []string{databaseFile, ledgerFile, hpkeFile, identityFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			return fmt.Errorf("%s is there already; an identity is never replaced", name)
		}
	}
	staging := filepath.Join(dir, stagingDir)
	if err := os.RemoveAll(staging); err != nil {
		return err
	}
	if err := durable.Mkdir(staging); err != nil {
		return err
	}
	if err := stage(staging, role, entropy); err != nil {
		return err
	}
	for _, name := range []string{secretsDir, releasesDir, uploadsDir, resultsDir} {
		if err := durable.Mkdir(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, name := range files {
		if err := durable.Rename(filepath.Join(staging, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(staging)
}

// lockCreate excludes a concurrent Create in the directory.
func lockCreate(dir string) (unlock func(), err error) {
	if err := durable.Mkdir(filepath.Join(dir, locksDir)); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, locksDir, "create.lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("another process is creating it")
	}
	return func() { lock.Unlock() }, nil
}

// stage durably writes a node's files.
func stage(dir string, role Role, entropy io.Reader) error {
	var seed [ed25519.SeedSize]byte
	if _, err := io.ReadFull(entropy, seed[:]); err != nil {
		return fmt.Errorf("reading entropy: %w", err)
	}
	identity, err := encodeIdentity(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		return err
	}
	var id ledgerID
	if _, err := io.ReadFull(entropy, id[:]); err != nil {
		return fmt.Errorf("reading entropy: %w", err)
	}
	if role == Aggregator {
		var seed [hpkeSeed]byte
		if _, err := io.ReadFull(entropy, seed[:]); err != nil {
			return fmt.Errorf("reading entropy: %w", err)
		}
		key, err := hpke.MLKEM768X25519().NewPrivateKey(seed[:])
		if err != nil {
			return err
		}
		text, err := encodeHPKE(key)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, hpkeFile), text); err != nil {
			return err
		}
	}
	if err := writeFile(filepath.Join(dir, identityFile), identity); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, ledgerFile), []byte(id.String()+"\n")); err != nil {
		return err
	}
	return createDatabase(filepath.Join(dir, databaseFile), role, id)
}
