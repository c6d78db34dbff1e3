package protocol_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
	"github.com/cosketch/cosketch/seed/stream"
)

// derivedKeys returns all keys of a seed, by their labels.
func derivedKeys(t *testing.T, root seed.Seed) map[string]hexed {
	t.Helper()
	out := map[string]hexed{}
	for _, label := range []seed.Label{seed.RecordRows, seed.ColumnRows, seed.HadamardPermutation, seed.Pseudonyms, seed.Confirm} {
		key, err := root.Derive(label)
		if err != nil {
			t.Fatal(err)
		}
		out[string(label)] = hexedOf(key)
	}
	return out
}

type keyCase struct {
	T1            hexed            `json:"t1"`
	Contributions []hexed          `json:"contributions"` // in roster order
	Seed          hexed            `json:"seed"`
	Keys          map[string]hexed `json:"keys"`
	Published     map[string]hexed `json:"published"` // content of a confirmation for a key that is to be public
}

func keys() vectors {
	return cases[keyCase]{
		file:  "keys",
		about: "Given: T1 and the contributions in roster order. To be found: the seed, the key of each label, and the hash that confirms a key that is to be public. seed/agree/testdata/agreement.txt holds the whole agreement.",
		given: func(*testing.T) []keyCase {
			repeat := func(b byte) hexed { return bytes.Repeat(hexed{b}, 32) }
			return []keyCase{
				{T1: repeat(0), Contributions: []hexed{repeat(1), repeat(2)}},
				{T1: repeat(3), Contributions: []hexed{repeat(2), repeat(1), repeat(4)}},
			}
		},
		fill: func(t *testing.T, c *keyCase) {
			var contributions [][]byte
			for _, s := range c.Contributions {
				contributions = append(contributions, s)
			}
			root, err := seed.Extract(c.T1.array(t), contributions)
			if err != nil {
				t.Fatal(err)
			}
			c.Seed, c.Keys = hexedOf(root.Bytes()), derivedKeys(t, root)
			c.Published = map[string]hexed{}
			for _, label := range []seed.Label{seed.ColumnRows, seed.HadamardPermutation} {
				c.Published[string(label)] = hexedOf(agree.PublishedHash(label, [32]byte(c.Keys[string(label)])))
			}
		},
	}
}

// welcomeCase is a seed sealed to a newcomer, and the opening of the newcomer's randomness.
type welcomeCase struct {
	Note         string `json:"note"`
	Study        hexed  `json:"study"`
	Attempt      uint32 `json:"attempt"`
	Newcomer     hexed  `json:"newcomer"`
	Entropy      hexed  `json:"entropy"` // contribution, blinder, pair key, input of DeriveKeyPair
	T2           hexed  `json:"t2"`
	Join         hexed  `json:"join"`
	Welcomer     hexed  `json:"welcomer"`
	Sealed       hexed  `json:"sealed"`
	EphemeralKey hexed  `json:"ephemeral key"`
	PrivateKey   hexed  `json:"private key"` // as a complaint would publish it
	Commitment   hexed  `json:"commitment"`
	Opens        bool   `json:"opens"`
	Seed         hexed  `json:"seed"`
}

func (c *welcomeCase) secrets(t *testing.T) *agree.Secrets {
	t.Helper()
	s, err := agree.Begin(c.Study.array(t), c.Attempt, c.Newcomer.array(t), bytes.NewReader(c.Entropy))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *welcomeCase) invitation(t *testing.T) agree.Invitation {
	t.Helper()
	return agree.Invitation{T2: c.T2.array(t), Join: c.Join.array(t), Welcomer: c.Welcomer.array(t), Newcomer: c.Newcomer.array(t)}
}

func welcomes() vectors {
	return cases[welcomeCase]{
		file:  "welcomes",
		about: "Given: what a newcomer drew, and a sealed seed with who sealed it to whom. To be found: the newcomer's key pair and commitment, and the seed if it opens.",
		given: givenWelcomes,
		fill: func(t *testing.T, c *welcomeCase) {
			s := c.secrets(t)
			o, err := s.Opening()
			if err != nil {
				t.Fatal(err)
			}
			commit := s.Commit()
			c.EphemeralKey, c.PrivateKey, c.Commitment = commit.EphemeralKey, o.Key, hexedOf(commit.Commitment)
			root, err := s.Accept(c.invitation(t), c.Sealed)
			if c.Opens, c.Seed = err == nil, nil; err == nil {
				c.Seed = hexedOf(root.Bytes())
			}
		},
	}
}

func givenWelcomes(t *testing.T) []welcomeCase {
	cryptotest.SetGlobalRandom(t, 2026)
	var entropy hexed
	for i := range 4 {
		part := sha256.Sum256([]byte{byte(i)})
		entropy = append(entropy, part[:]...)
	}
	good := welcomeCase{
		Note: "as it was sealed", Study: hexedOf(digest(1)), Attempt: 2, Newcomer: hexedOf(digest(2)), Entropy: entropy,
		T2: hexedOf(digest(3)), Join: hexedOf(digest(4)), Welcomer: hexedOf(digest(5)),
	}
	sealed, err := good.invitation(t).Seal(seed.FromBytes(digest(6)), good.secrets(t).Commit().EphemeralKey)
	if err != nil {
		t.Fatal(err)
	}
	good.Sealed = sealed
	other, cut := good, good
	other.Note, other.Welcomer = "as if another had sealed it", hexedOf(digest(7))
	cut.Note, cut.Sealed = "cut off", sealed[:len(sealed)-1]
	return []welcomeCase{good, other, cut}
}

// labelCase is a label, and its bits under a key.
type labelCase struct {
	What      string `json:"what"`
	Column    string `json:"column,omitempty"`
	Value     string `json:"value,omitempty"`
	Party     hexed  `json:"party,omitempty"`
	ID        hexed  `json:"id,omitempty"`
	Key       hexed  `json:"key"`
	Label     hexed  `json:"label"`
	Block     hexed  `json:"block"`
	Keystream hexed  `json:"keystream"` // its first 40 bytes
}

func labels() vectors {
	return cases[labelCase]{
		file:  "labels",
		about: "Given: a row key, and a column, a value or a record. To be found: its label, the label's block, and the first 40 bytes of the block's keystream.",
		given: func(*testing.T) []labelCase {
			key := hexedOf(rowKey(1))
			return []labelCase{
				{What: "column", Column: "age", Key: key},
				{What: "value", Column: "ward", Value: "é", Key: key},
				{What: "record of a vertical study", ID: hexed("patient 1"), Key: key},
				{What: "record of a horizontal study", Party: hexedOf(digest(9)), ID: hexed("patient 1"), Key: key},
				{What: "record of a vertical study", ID: bytes.Repeat(hexed("0123456789"), 30), Key: key},
			}
		},
		fill: func(t *testing.T, c *labelCase) {
			switch c.What {
			case "column":
				c.Label = stream.ColumnLabel(c.Column)
			case "value":
				c.Label = stream.ValueLabel(c.Column, c.Value)
			case "record of a vertical study":
				c.Label = stream.VerticalRecordLabel(c.ID)
			case "record of a horizontal study":
				c.Label = stream.AppendHorizontalRecordLabel(nil, c.Party.array(t), c.ID)
			default:
				t.Fatalf("a label of a %q", c.What)
			}
			s := stream.New(c.Key.array(t))
			block := s.Block(c.Label)
			c.Block, c.Keystream = block[:], make(hexed, 40)
			s.Expand(&block, c.Keystream)
		},
	}
}

// rowKey returns first, first+1, … .
func rowKey(first byte) (key [32]byte) {
	for i := range key {
		key[i] = first + byte(i)
	}
	return key
}

// rowCase holds rows of R for the labels "0", "1", … .
type rowCase struct {
	Family      projection.Family `json:"family"`
	K           int               `json:"k"`
	S           int               `json:"s,omitempty"`
	Labels      int               `json:"labels"` // number of rows that the digest covers
	Key         hexed             `json:"key,omitempty"`
	Permutation hexed             `json:"permutation,omitempty"` // key of Hadamard columns
	First       []string          `json:"first"`                 // the first five rows
	Digest      hexed             `json:"digest"`
}

func rows() vectors {
	return cases[rowCase]{
		file: "rows",
		about: "Given: family, k, s and row keys. To be found: the rows of the labels that are the decimal numbers 0, 1, …: the first five, " +
			"and SHA-256 over all, an entry a byte in two's complement, of gaussian two, the low one first.",
		given: func(*testing.T) []rowCase {
			key, other := hexedOf(rowKey(1)), hexedOf(rowKey(101))
			return []rowCase{
				{Family: projection.Sparse, K: 16, S: 1, Labels: 10_000, Key: key},
				{Family: projection.Sparse, K: 96, S: 4, Labels: 10_000, Key: key},
				{Family: projection.Sparse, K: 96, S: 8, Labels: 10_000, Key: key},
				{Family: projection.Rademacher, K: 19, Labels: 10_000, Key: key},
				{Family: projection.Rademacher, K: 100, Labels: 10_000, Key: key},
				{Family: projection.Achlioptas, K: 19, Labels: 10_000, Key: key},
				{Family: projection.Achlioptas, K: 100, Labels: 10_000, Key: key},
				{Family: projection.Gaussian, K: 9, Labels: 10_000, Key: key},
				{Family: projection.Gaussian, K: 100, Labels: 10_000, Key: key},
				{Family: projection.Hadamard, K: 6, Labels: 5, Key: key, Permutation: other},
				{Family: projection.Hadamard, K: 8, Labels: 8, Key: key, Permutation: other},
				{Family: projection.Hadamard, K: 100, Labels: 10_000, Key: key, Permutation: other},
				{Family: projection.Identity, K: 5, Labels: 5},
			}
		},
		fill: func(t *testing.T, c *rowCase) {
			row, h := c.matrix(t), sha256.New()
			c.First = nil
			for i := range c.Labels {
				entries := row(i)
				if i < 5 {
					c.First = append(c.First, strings.Trim(fmt.Sprint(entries), "[]"))
				}
				for _, v := range entries {
					h.Write([]byte{byte(v), byte(v >> 8)}[:c.width()])
				}
			}
			c.Digest = h.Sum(nil)
		},
	}
}

func (c *rowCase) width() int {
	if c.Family == projection.Gaussian {
		return 2
	}
	return 1
}

// matrix returns R row by row: for records if the family has such rows, else for columns. The row
// of a column is the projection of its unit vector.
func (c *rowCase) matrix(t *testing.T) func(int) []int64 {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	spec, label := projection.Spec{Family: c.Family, K: c.K, S: c.S}, func(i int) []byte { return []byte(strconv.Itoa(i)) }
	if spec.ServesColumns() {
		m, err := projection.New(spec, stream.New(c.Key.array(t)))
		check(err)
		return func(i int) []int64 {
			row := make([]int64, c.K)
			m.AddOuter(row, label(i), []int64{1})
			return row
		}
	}
	var all [][]byte
	for i := range c.Labels {
		all = append(all, label(i))
	}
	var fixed *projection.Fixed
	var err error
	if c.Family == projection.Hadamard {
		fixed, err = projection.FixHadamard(spec, stream.New(c.Key.array(t)), stream.New(c.Permutation.array(t)), all)
	} else {
		fixed, err = projection.Fix(spec, nil, all)
	}
	check(err)
	unit := make([]int64, c.Labels)
	return func(i int) []int64 {
		row := make([]int64, c.K)
		unit[i] = 1
		fixed.Project(row, unit)
		unit[i] = 0
		return row
	}
}
