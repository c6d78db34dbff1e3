package agree

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/cosketch/cosketch/seed"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/agreement.txt anew")

const vectorFile = "testdata/agreement.txt"

// A vector is one complete agreement of three members, as lines "name = hex". The head of the file
// says which values are inputs and which are results. Ciphertexts are inputs, as they contain fresh
// randomness and cannot be sealed again.
type vector struct {
	names  []string
	values map[string][]byte
}

func (v *vector) put(name string, value []byte) {
	v.names = append(v.names, name)
	v.values[name] = value
}

const vectorHead = `# One seed agreement of three members, for other implementations.
#
# Given: study, attempt, roster; each member's key and the entropy it draws
# (contribution, blinder, pair key, input of DeriveKeyPair); the ids of the envelopes
# that carried its commit and its share; what it sealed to each other member.
# To be found: each member's ephemeral key and commitment, T1, T2, the row keys and
# each member's confirmation tag.

`

func (v *vector) String() string {
	var b strings.Builder
	b.WriteString(vectorHead)
	for _, name := range v.names {
		fmt.Fprintf(&b, "%s = %x\n", name, v.values[name])
	}
	return b.String()
}

func readVector(t *testing.T) *vector {
	t.Helper()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	v := &vector{values: map[string][]byte{}}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(line, " = ")
		b, err := hex.DecodeString(value)
		if err != nil || len(b) == 0 {
			t.Fatalf("%s: line %q: %v", vectorFile, line, err)
		}
		v.put(name, b)
	}
	return v
}

func member(i int, what string) string { return fmt.Sprintf("member %d %s", i+1, what) }

// vectorOf records an agreement as a vector.
func vectorOf(t *testing.T, a *attempt, entropy [][]byte) *vector {
	t.Helper()
	v := &vector{values: map[string][]byte{}}
	v.put("study", a.group.Study[:])
	v.put("attempt", []byte{byte(a.group.Attempt >> 24), byte(a.group.Attempt >> 16), byte(a.group.Attempt >> 8), byte(a.group.Attempt)})
	v.put("roster", a.group.Roster[:])
	for i := range a.secrets {
		v.put(member(i, "key"), a.group.Members[i][:])
		v.put(member(i, "entropy"), entropy[i])
		commit := a.secrets[i].Commit()
		v.put(member(i, "ephemeral key"), commit.EphemeralKey)
		v.put(member(i, "commitment"), commit.Commitment[:])
		v.put(member(i, "commit id"), a.commits[i].ID[:])
	}
	for i := range a.secrets {
		for j := range a.secrets {
			if j != i {
				v.put(member(i, fmt.Sprintf("sealed to member %d", j+1)), a.shares[i].Message.Sealed[place(i, j)])
			}
		}
		v.put(member(i, "share id"), a.shares[i].ID[:])
	}
	o := a.open(t, 0)
	v.put("T1", o.T1[:])
	v.put("T2", o.T2[:])
	for _, label := range []seed.Label{seed.RecordRows, seed.ColumnRows} {
		key, err := o.Seed.Derive(label)
		if err != nil {
			t.Fatal(err)
		}
		v.put(string(label)+" key", key[:])
	}
	for i := range a.secrets {
		c := a.confirm(t, i)
		v.put(member(i, "tag"), c.Tag[:])
	}
	return v
}

// replay runs the agreement with the inputs of a vector.
func replay(t *testing.T, v *vector) (*attempt, [][]byte) {
	t.Helper()
	field := func(name string) [32]byte {
		if len(v.values[name]) != 32 {
			t.Fatalf("%s has %d bytes", name, len(v.values[name]))
		}
		return [32]byte(v.values[name])
	}
	a := &attempt{group: Group{Study: field("study"), Roster: field("roster")}}
	for _, b := range v.values["attempt"] {
		a.group.Attempt = a.group.Attempt<<8 | uint32(b)
	}
	var entropy [][]byte
	for i := range 3 {
		a.group.Members = append(a.group.Members, field(member(i, "key")))
		entropy = append(entropy, v.values[member(i, "entropy")])
		s, err := Begin(a.group.Study, a.group.Attempt, a.group.Members[i], bytes.NewReader(entropy[i]))
		if err != nil {
			t.Fatal(err)
		}
		a.secrets = append(a.secrets, s)
		a.commits = append(a.commits, Posted[Commit]{ID: field(member(i, "commit id")), Message: s.Commit()})
		share := Posted[Share]{ID: field(member(i, "share id")), Message: Share{T1: field("T1")}}
		for j := range 3 {
			if j != i {
				share.Message.Sealed = append(share.Message.Sealed, v.values[member(i, fmt.Sprintf("sealed to member %d", j+1))])
			}
		}
		a.shares = append(a.shares, share)
	}
	return a, entropy
}

// Every member of the vector's agreement opens what is sealed to it, and obtains the vector's
// transcripts, keys and tags.
func TestVector(t *testing.T) {
	if *rewrite {
		writeVector(t)
	}
	v := readVector(t)
	a, entropy := replay(t, v)
	if got := vectorOf(t, a, entropy); got.String() != v.String() {
		for _, name := range got.names {
			if !bytes.Equal(got.values[name], v.values[name]) {
				t.Errorf("%s is %x, want %x", name, got.values[name], v.values[name])
			}
		}
		t.Error("not the vector's agreement")
	}
	first := a.open(t, 0)
	for i := range a.secrets {
		if !a.open(t, i).Seed.Equal(first.Seed) {
			t.Errorf("member %d came to another seed", i)
		}
	}
}

// writeVector regenerates the vector, identically with the same Go release.
func writeVector(t *testing.T) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 2026)
	a := shared(t, group(3))
	var entropy [][]byte
	for _, m := range a.group.Members {
		b := make([]byte, 128)
		entropyOf(m).Read(b)
		entropy = append(entropy, b)
	}
	if err := os.WriteFile(vectorFile, []byte(vectorOf(t, a, entropy).String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Only the encapsulation draws randomness that is not injected. If it is fixed, the whole agreement
// can be repeated; if not, only the sealed shares differ.
func TestOnlyEncapsulationDrawsForItself(t *testing.T) {
	run := func() (shares []byte, o Outcome) {
		a := shared(t, group(3))
		for _, sh := range a.shares {
			shares = append(shares, bytes.Join(sh.Message.Sealed, nil)...)
		}
		return shares, a.open(t, 0)
	}
	cryptotest.SetGlobalRandom(t, 2026)
	first, one := run()
	cryptotest.SetGlobalRandom(t, 2026)
	same, two := run()
	other, three := run()
	if !bytes.Equal(first, same) || one.T2 != two.T2 {
		t.Error("the same randomness gives another agreement")
	}
	if bytes.Equal(first, other) || one.T2 == three.T2 {
		t.Error("other randomness gives the same sealed shares")
	}
	if one.T1 != three.T1 || !one.Seed.Equal(three.Seed) {
		t.Error("the seed depends on the encapsulation's randomness")
	}
}
