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

// indexReader reads an index, an entry at a time, and compares it with its digest at
// the end.
type indexReader struct {
	stored stored
	file   *store.File // nil for the index of a Set that does not exist yet
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

// joined goes through two sorted sources at once: take gets the entries of each id,
// old and new, of which there are none or one, or several new ones.
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

// indexWriter writes entries, which come in order.
type indexWriter struct{ w *bufio.Writer }

func (x indexWriter) put(e runs.Entry) error {
	var b [indexBytes]byte
	copy(b[:], e.ID[:])
	copy(b[16:], e.Value[:])
	binary.LittleEndian.PutUint32(b[32:], e.Shard)
	_, err := x.w.Write(b[:])
	return err
}

// writeIndex writes the index that fill puts entries into.
func (s *stage) writeIndex(fill func(indexWriter) error) (stored, error) {
	return s.write("index", func(w io.Writer) error {
		x := indexWriter{bufio.NewWriterSize(w, 256<<10)}
		return errors.Join(fill(x), x.w.Flush())
	})
}
