package held

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/node/store"
)

// indexBytes is the size of an entry in the index: id, values, shard.
const indexBytes = 16 + 16 + 4

// indexReader reads an index entry by entry, and checks its hash at the end.
type indexReader struct {
	stored stored
	file   *store.File // nil if there is no index yet
	r      *bufio.Reader
	hash   hash.Hash
}

func openIndex(files Files, f stored) (*indexReader, error) {
	if f.Name == "" {
		return &indexReader{}, nil
	}
	file, err := open(files, f)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	return &indexReader{f, file, bufio.NewReaderSize(io.TeeReader(file, h), 256<<10), h}, nil
}

func (x *indexReader) Next() (runs.Entry, error) {
	if x.file == nil {
		return runs.Entry{}, io.EOF
	}
	var b [indexBytes]byte
	_, err := io.ReadFull(x.r, b[:])
	if err == io.EOF && hex.EncodeToString(x.hash.Sum(nil)) != x.stored.SHA256 || err == io.ErrUnexpectedEOF {
		return runs.Entry{}, &DamagedError{x.stored.Name + " is not what was written"}
	}
	if err != nil {
		return runs.Entry{}, err
	}
	return runs.Entry{ID: runs.Digest(b[:16]), Value: runs.Digest(b[16:32]), Shard: binary.LittleEndian.Uint32(b[32:])}, nil
}

func (x *indexReader) Close() error {
	if x.file == nil {
		return nil
	}
	return x.file.Close()
}

// joined merges two sorted sources. take receives the entries of each id: at most one old one, and
// any number of new ones.
func joined(old, fresh runs.Source, take func(old *runs.Entry, fresh []runs.Entry) error) error {
	a, errA := old.Next()
	b, errB := fresh.Next()
	var same []runs.Entry
	for {
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF {
				return err
			}
		}
		if errA == io.EOF && errB == io.EOF {
			return nil
		}
		id := a.ID
		if errA == io.EOF || errB == nil && string(b.ID[:]) < string(id[:]) {
			id = b.ID
		}
		var one *runs.Entry
		if errA == nil && a.ID == id {
			found := a
			one = &found
			a, errA = old.Next()
		}
		for same = same[:0]; errB == nil && b.ID == id; b, errB = fresh.Next() {
			same = append(same, b)
		}
		if err := take(one, same); err != nil {
			return err
		}
	}
}

// indexWriter writes entries, which must be sorted.
type indexWriter struct{ w *bufio.Writer }

func (x indexWriter) put(e runs.Entry) error {
	var b [indexBytes]byte
	copy(b[:], e.ID[:])
	copy(b[16:], e.Value[:])
	binary.LittleEndian.PutUint32(b[32:], e.Shard)
	_, err := x.w.Write(b[:])
	return err
}

// writeIndex writes the entries that fill puts.
func (s *stage) writeIndex(fill func(indexWriter) error) (stored, error) {
	return s.write("index", func(w io.Writer) error {
		x := indexWriter{bufio.NewWriterSize(w, 256<<10)}
		return errors.Join(fill(x), x.w.Flush())
	})
}
