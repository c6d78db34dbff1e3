package held

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/store"
)

// format is the layout of the manifest and its files.
const format = 1

// manifest lists what is valid. It holds column names and file names, counts, digests and a key,
// but no value and no id.
type manifest struct {
	Format     int     `json:"format"`
	Study      string  `json:"study"`
	T2         string  `json:"t2"` // of the seed agreement
	Generation int     `json:"generation"`
	Key        string  `json:"key"`
	Reading    reading `json:"reading"`
	NextShard  uint32  `json:"next_shard"`
	Shards     []Shard `json:"shards"` // in the dataset's order
	Index      stored  `json:"index"`
	Withdrawn  stored  `json:"withdrawn"`      // sorted digests of ids
	Taken      int64   `json:"taken"`          // number of withdrawn ids
	Sums       []sum   `json:"sums"`           // one per sketch of the study
	Job        string  `json:"job,omitempty"`  // private key of the job, if the data are elsewhere and come as parts
	Look       string  `json:"look,omitempty"` // see Set.purpose
	Sum        string  `json:"sum"`            // SHA-256 of the manifest without Sum; empty if an older program wrote it
}

// reading is how the site file says to read the data. Another reading turns the same bytes into
// other records.
type reading struct {
	Dataset string               `json:"dataset"`
	ID      []string             `json:"id"`
	Headers []string             `json:"headers"`
	CSV     dataset.Dialect      `json:"csv"`
	Words   dataset.Replacements `json:"words,omitzero"`
}

func (r reading) equal(other reading) bool {
	return r.Dataset == other.Dataset && slices.Equal(r.ID, other.ID) && slices.Equal(r.Headers, other.Headers) && r.CSV == other.CSV && reflect.DeepEqual(r.Words, other.Words)
}

// sum is the state of one sketch: of a columns-side sketch the sum over all shards, of a
// records-side one only a count, since its rows belong to the shards.
type sum struct {
	File    *stored `json:"file,omitempty"`
	Clipped int64   `json:"clipped"` // records whose contribution was clipped
}

// Shard is one file of the dataset, or its query, as it was read. Counts other than Records and
// Withdrawn are from that time.
type Shard struct {
	Name      string   `json:"name"`
	SHA256    string   `json:"sha256"`    // of the file's bytes; of a query's text
	Records   int64    `json:"records"`   // held now
	Withdrawn int64    `json:"withdrawn"` // withdrawn after it was read, or left out when it was
	Skipped   int64    `json:"skipped"`   // left out for a missing value
	Columns   []Column `json:"columns"`
	Clipped   []int64  `json:"clipped"` // records clipped, by sketch

	Number uint32    `json:"number"` // identifies the shard in the index
	Rows   []*stored `json:"rows"`   // by sketch; null for columns-side sketches
	IDs    *stored   `json:"ids,omitempty"`
}

// Column counts a shard's values of one column.
type Column = part.Column

// names returns the names of the valid files.
func (m *manifest) names() (out []string) {
	for _, f := range m.files() {
		out = append(out, f.Name)
	}
	return out
}

// files returns the valid files.
func (m *manifest) files() []stored {
	out := []stored{m.Index, m.Withdrawn}
	for _, s := range m.Sums {
		if s.File != nil {
			out = append(out, *s.File)
		}
	}
	for _, s := range m.Shards {
		for _, rows := range s.Rows {
			if rows != nil {
				out = append(out, *rows)
			}
		}
		if s.IDs != nil {
			out = append(out, *s.IDs)
		}
	}
	return out
}

// records returns the number of records held.
func (m *manifest) records() (n int64) {
	for _, s := range m.Shards {
		n += s.Records
	}
	return n
}

// readManifest returns the manifest, or nil if nothing is held.
func readManifest(files Files) (*manifest, error) {
	raw, err := files.Manifest()
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, &DamagedError{"its manifest is not readable"}
	}
	if m.Format != format {
		return nil, fmt.Errorf("the held sketch is of format %d, this program reads %d", m.Format, format)
	}
	if m.Sum != "" && (m.Sum != m.sum() || !bytes.Equal(raw, m.json())) {
		return nil, &DamagedError{"its manifest is not what was written"}
	}
	return m, nil
}

// Check verifies the hashes of all held files, and returns their number; 0 if nothing is held.
func Check(files Files) (count int, err error) {
	m, err := readManifest(files)
	if err != nil || m == nil {
		return 0, err
	}
	for _, f := range m.files() {
		file, err := open(files, f)
		if err != nil {
			return count, err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, file)
		if err := errors.Join(err, file.Close()); err != nil {
			return count, fmt.Errorf("reading %s of the held sketch: %w", f.Name, err)
		}
		if hex.EncodeToString(hash.Sum(nil)) != f.SHA256 {
			return count, &DamagedError{f.Name + " is not what was written"}
		}
		count++
	}
	return count, nil
}

// sum returns the hash of the manifest without its own hash.
func (m manifest) sum() string {
	m.Sum = ""
	hash := sha256.Sum256(m.json())
	return hex.EncodeToString(hash[:])
}

func (m manifest) encode() []byte {
	m.Sum = m.sum()
	return m.json()
}

func (m manifest) json() []byte {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		panic("held: a manifest holds text and numbers alone: " + err.Error())
	}
	return b
}
