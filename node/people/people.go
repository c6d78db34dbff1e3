// Package people detects whether two datasets are about the same people, whatever their names, by
// their locations and by a keyed sample of their record ids.
//
// The privacy budget of a dataset is accounted under its name. Under a second name the same people
// would get a second budget, of which no promise made to them takes account.
package people

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node/dataset"
)

const (
	// size is how many ids a sample holds. A dataset that is a part of another is still recognised
	// down to about one in five hundred of the ids.
	size = 4096
	// fewest is how many ids the comparison needs if a sample does not hold all ids.
	fewest = 8
	// mostPlaces is how many locations of a dataset are remembered; the newest are kept.
	mostPlaces = 64
)

// mark is a keyed hash of a record id. Without the key it reveals nothing about the id.
type mark [8]byte

func (m mark) compare(other mark) int { return bytes.Compare(m[:], other[:]) }

// Sample is what a node remembers of a dataset.
type Sample struct {
	places []string // files, or database and query
	marks  []mark   // the smallest marks of all ids, ascending: a sample without replacement
}

// Sampler samples what is read. It is not safe for concurrent use.
type Sampler struct {
	prefix []byte // key, then scratch for an id
	sample Sample
}

// NewSampler returns a sampler for a source. key is a secret key of the party.
func NewSampler(key [32]byte, from dataset.Source) *Sampler {
	s := &Sampler{prefix: append([]byte(nil), key[:]...)}
	if s.sample.places = slices.Clone(from.Files); from.IsQuery() {
		s.sample.places = []string{from.String() + "\n" + from.Question()}
	} else if from.Elsewhere != "" {
		s.sample.places = []string{from.Elsewhere}
	}
	return s
}

// Add adds the id of a record. A repeated id counts once.
func (s *Sampler) Add(id []byte) {
	s.prefix = append(s.prefix[:32], id...)
	sum := sha256.Sum256(s.prefix)
	s.sample.add(mark(sum[:len(mark{})]))
}

func (s *Sample) add(m mark) {
	if len(s.marks) == size && s.marks[size-1].compare(m) < 0 {
		return
	}
	at, known := slices.BinarySearchFunc(s.marks, m, mark.compare)
	if known {
		return
	}
	if s.marks = slices.Insert(s.marks, at, m); len(s.marks) > size {
		s.marks = s.marks[:size]
	}
}

// Sample returns the sample of everything added.
func (s *Sampler) Sample() Sample {
	return Sample{slices.Clone(s.sample.places), slices.Clone(s.sample.marks)}
}

// Empty reports whether nothing is known, because no data were read.
func (s Sample) Empty() bool { return len(s.places) == 0 && len(s.marks) == 0 }

// With merges two samples: of what a dataset held before and of what it holds now.
func (s Sample) With(other Sample) Sample {
	out := Sample{slices.Clone(s.places), slices.Clone(s.marks)}
	for _, place := range other.places {
		if out.places = append(slices.DeleteFunc(out.places, func(p string) bool { return p == place }), place); len(out.places) > mostPlaces {
			out.places = out.places[1:]
		}
	}
	for _, m := range other.marks {
		out.add(m)
	}
	return out
}

// Match says why two datasets seem to be about the same people.
type Match string

const (
	Unlike    Match = ""
	SamePlace Match = "they lie in the same place"
	SameIDs   Match = "half of a sample of their record ids, or more, is the same"
)

// Compare compares two samples under one key. They are alike if at least half of the ids of the
// smaller one are in the other. This covers a dataset that is part of the other, and ones that each
// lost and gained some records.
func (s Sample) Compare(other Sample) Match {
	for _, place := range s.places {
		if slices.Contains(other.places, place) {
			return SamePlace
		}
	}
	// Up to the lower of the two upper ends, both samples are complete.
	a, b := s.marks, other.marks
	whole := len(a) < size && len(b) < size
	if len(a) == size {
		b = upTo(b, a[size-1])
	}
	if len(b) == size {
		a = upTo(a, b[size-1])
	}
	shared := 0
	for _, m := range a {
		if _, ok := slices.BinarySearchFunc(b, m, mark.compare); ok {
			shared++
		}
	}
	if fewer := min(len(a), len(b)); shared > 0 && 2*shared >= fewer && (whole || fewer >= fewest) {
		return SameIDs
	}
	return Unlike
}

// upTo returns the marks up to and including end.
func upTo(marks []mark, end mark) []mark {
	at, known := slices.BinarySearchFunc(marks, end, mark.compare)
	if known {
		at++
	}
	return marks[:at]
}

// stored is the encoded form of a sample.
type stored struct {
	Places []string `json:"places"`
	Marks  string   `json:"marks"` // hexadecimal, concatenated
}

// Encode encodes a sample.
func (s Sample) Encode() ([]byte, error) {
	var all []byte
	for _, m := range s.marks {
		all = append(all, m[:]...)
	}
	return json.Marshal(stored{s.places, hex.EncodeToString(all)})
}

// Decode decodes what Encode returned.
func Decode(data []byte) (Sample, error) {
	var in stored
	if err := json.Unmarshal(data, &in); err != nil {
		return Sample{}, fmt.Errorf("reading a sample of record ids: %w", err)
	}
	all, err := hex.DecodeString(in.Marks)
	if err == nil && (len(all)%len(mark{}) != 0 || len(all) > size*len(mark{})) {
		err = errors.New("what is stored is damaged")
	}
	if err != nil {
		return Sample{}, fmt.Errorf("reading a sample of record ids: %w", err)
	}
	out := Sample{places: in.Places}
	for ; len(all) > 0; all = all[len(mark{}):] {
		out.add(mark(all[:len(mark{})]))
	}
	return out, nil
}
