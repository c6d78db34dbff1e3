package store

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/people"
)

// inheritedKey names the row of a key that another identity made. No dataset has that name.
const inheritedKey = ""

// peopleRow returns a row's content: a hash of name and bytes, then the bytes.
func peopleRow(name string, raw []byte) []byte {
	sum := sha256.Sum256(append(append([]byte(name), 0), raw...))
	return append(sum[:], raw...)
}

func readPeopleRow(name string, row []byte) ([]byte, error) {
	if len(row) < sha256.Size || !bytes.Equal(row, peopleRow(name, row[sha256.Size:])) {
		return nil, errors.New("what is remembered of a dataset's people is damaged")
	}
	return row[sha256.Size:], nil
}

func putPeople(tx *sql.Tx, name string, raw []byte) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO people (dataset, raw) VALUES (?, ?)", name, peopleRow(name, raw))
	return explain(err)
}

// PeopleKey returns the key with which record ids are sampled. It is derived from the identity;
// after a rotation, from the identity whose ledger was inherited first.
func (s *Store) PeopleKey() (key [32]byte, err error) {
	var row []byte
	switch err := scan(s.db.QueryRow("SELECT raw FROM people WHERE dataset = ?", inheritedKey), &row); {
	case errors.Is(err, sql.ErrNoRows):
		mac := hmac.New(sha256.New, s.identity().Seed())
		mac.Write([]byte("cosketch/1/people"))
		return [32]byte(mac.Sum(nil)), nil
	case err != nil:
		return key, fmt.Errorf("reading the key of samples of record ids: %w", explain(err))
	}
	raw, err := readPeopleRow(inheritedKey, row)
	if err == nil && len(raw) != len(key) {
		err = errors.New("what is remembered of a dataset's people is damaged")
	}
	if err != nil {
		return key, fmt.Errorf("reading the key of samples of record ids: %w", err)
	}
	return [32]byte(raw), nil
}

// inheritPeople copies what another store remembers, and its key.
func (s *Store) inheritPeople(tx *sql.Tx, from *Store) error {
	key, err := from.PeopleKey()
	if err != nil {
		return err
	}
	all, err := from.People()
	if err != nil {
		return err
	}
	for name, sample := range all {
		raw, err := sample.Encode()
		if err == nil {
			err = putPeople(tx, name, raw)
		}
		if err != nil {
			return err
		}
	}
	return putPeople(tx, inheritedKey, key[:])
}

// PutPeopleSample adds the people whom a dataset is about now to those it was about before. Durable when
// it returns nil.
func (s *Store) PutPeopleSample(dataset string, now people.Sample) error {
	if s.readOnly {
		return fmt.Errorf("remembering a sample of record ids: %w", ErrReadOnly)
	}
	err := transact(s.db, func(tx *sql.Tx) error {
		var row []byte
		switch err := scan(tx.QueryRow("SELECT raw FROM people WHERE dataset = ?", dataset), &row); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return explain(err)
		default:
			raw, err := readPeopleRow(dataset, row)
			if err != nil {
				return err
			}
			before, err := people.Decode(raw)
			if err != nil {
				return err
			}
			now = before.With(now)
		}
		raw, err := now.Encode()
		if err != nil {
			return err
		}
		return putPeople(tx, dataset, raw)
	})
	if err != nil {
		return fmt.Errorf("remembering a sample of record ids of dataset %q: %w", dataset, err)
	}
	return nil
}

// People returns the samples of all datasets, by name.
func (s *Store) People() (map[string]people.Sample, error) {
	out := map[string]people.Sample{}
	rows, err := s.db.Query("SELECT dataset, raw FROM people WHERE dataset != ?", inheritedKey)
	if err != nil {
		return nil, fmt.Errorf("reading samples of record ids: %w", explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var row []byte
		if err := scanned(rows.Scan(&name, &row)); err != nil {
			return nil, fmt.Errorf("reading samples of record ids: %w", err)
		}
		raw, err := readPeopleRow(name, row)
		if err == nil {
			out[name], err = people.Decode(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("dataset %q: %w", name, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading samples of record ids: %w", explain(err))
	}
	return out, nil
}
