package agree

import (
	"bytes"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/secret"
	"github.com/cosketch/cosketch/seed/transcript"
)

// attempt is one attempt at agreement, with every member in this process.
type attempt struct {
	group   Group
	secrets []*Secrets
	commits []Posted[Commit]
	shares  []Posted[Share]
}

// group returns a group of n members.
func group(n int) Group { return groupOf(n, n > MaxWhole) }

// groupOf returns a group of n members, whose texts travel apart if apart is set.
func groupOf(n int, apart bool) Group {
	g := Group{Study: [32]byte{'s', 't', 'u', 'd', 'y'}, Attempt: 1, Roster: [32]byte{'r', 'o', 's', 't', 'e', 'r'}, DetachedTexts: apart}
	for i := range n {
		member := [32]byte{byte(i + 1)}
		if n > 255 {
			member = [32]byte{byte((i + 1) >> 8), byte(i + 1)}
		}
		g.Members = append(g.Members, member)
	}
	return g
}

// entropyOf returns a member's entropy. It does not depend on the attempt, so that attempts differ
// only in what a test changes.
func entropyOf(member [32]byte) *rand.ChaCha8 { return rand.NewChaCha8(member) }

// committed runs the first round of a group.
func committed(t testing.TB, g Group) *attempt {
	t.Helper()
	a := &attempt{group: g}
	for _, member := range g.Members {
		s, err := Begin(g.Study, g.Attempt, member, entropyOf(member))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Commit().Check(); err != nil {
			t.Fatal(err)
		}
		a.secrets = append(a.secrets, s)
		a.commits = append(a.commits, post(member, s.Commit()))
	}
	return a
}

// shared runs the first two rounds.
func shared(t testing.TB, g Group) *attempt {
	t.Helper()
	a := committed(t, g)
	for i := range a.secrets {
		a.shares = append(a.shares, a.share(t, i))
	}
	return a
}

func (a *attempt) share(t testing.TB, i int) Posted[Share] {
	t.Helper()
	s, err := a.secrets[i].Share(a.group, a.commits)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(len(a.group.Members)); err != nil {
		t.Fatal(err)
	}
	return post(a.group.Members[i], s)
}

// readBy returns the shares as a member gets them: if texts travel apart, with its own text.
func (a *attempt) readBy(to int) []Posted[Share] {
	if !a.group.DetachedTexts {
		return a.shares
	}
	out := slices.Clone(a.shares)
	for from := range out {
		if m := &out[from].Message; from != to {
			m.Received = Text{m.Sealed[place(from, to)], NewTree(from, m.Sealed).Path(to)}
		}
		out[from].Message.Sealed = nil
	}
	return out
}

// post gives a message an id, as its envelope would.
func post[M any](member [32]byte, message M) Posted[M] {
	return Posted[M]{ID: sha256.Sum256(fmt.Append(nil, member, message)), Message: message}
}

// open completes the agreement at a member that must succeed.
func (a *attempt) open(t testing.TB, i int) Outcome {
	t.Helper()
	o, err := a.secrets[i].Open(a.group, a.commits, a.readBy(i))
	if err != nil {
		t.Fatalf("member %d: %v", i, err)
	}
	return o
}

func (a *attempt) confirm(t testing.TB, i int) Confirm {
	t.Helper()
	c, err := a.open(t, i).Confirm(a.group.Members[i])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMembersAgree(t *testing.T) {
	for _, n := range []int{2, 3, 5, MaxWhole, MaxWhole + 1} {
		t.Run(fmt.Sprintf("%d members", n), func(t *testing.T) {
			a := shared(t, group(n))
			outcomes := make([]Outcome, n)
			for i := range n {
				outcomes[i] = a.open(t, i)
				if o := outcomes[i]; !o.Seed.Equal(outcomes[0].Seed) || o.T1 != outcomes[0].T1 || o.T2 != outcomes[0].T2 || o.Seed.IsZero() {
					t.Fatalf("member %d came to another outcome", i)
				}
			}
			confirms := make([]Confirm, n)
			for i := range n {
				c, err := outcomes[i].Confirm(a.group.Members[i])
				if err != nil {
					t.Fatal(err)
				}
				confirms[i] = c
			}
			for i := range n {
				for j := range n {
					if err := outcomes[i].Check(a.group.Members[j], confirms[j]); err != nil {
						t.Fatalf("member %d refuses the confirmation of member %d: %v", i, j, err)
					}
				}
			}
			if want := extract(a); outcomes[0].Seed.Bytes() != want {
				t.Error("the seed is not HKDF-Extract of all contributions under T1")
			}
		})
	}
}

// extract returns the seed, straight from RFC 5869 and the specification.
func extract(a *attempt) (key [32]byte) {
	t1 := a.group.T1(ids(a.commits))
	mac := hmac.New(sha256.New, t1[:])
	for _, s := range a.secrets {
		mac.Write(secret.Reveal(s.hidden).contribution[:])
	}
	mac.Sum(key[:0])
	return key
}

// The transcripts, and the confirmation's tag, written out.
func TestTranscriptLayouts(t *testing.T) {
	a := shared(t, group(2))
	o := a.open(t, 1)
	field := func(b ...byte) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(b)))) + string(b) }
	t1 := sha256.Sum256([]byte(field([]byte("cosketch/1/agree/T1")...) + field(a.group.Study[:]...) + field(0, 0, 0, 1) +
		field(a.group.Roster[:]...) + field(a.commits[0].ID[:]...) + field(a.commits[1].ID[:]...)))
	t2 := sha256.Sum256([]byte(field([]byte("cosketch/1/agree/T2")...) + field(t1[:]...) + field(a.shares[0].ID[:]...) + field(a.shares[1].ID[:]...)))
	if o.T1 != t1 || o.T2 != t2 {
		t.Errorf("T1 %x and T2 %x, want %x and %x", o.T1, o.T2, t1, t2)
	}
	key, err := o.Seed.Derive(seed.Confirm)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key[:])
	mac.Write(t2[:])
	mac.Write(a.group.Members[1][:])
	if c := a.confirm(t, 1); !bytes.Equal(c.Tag[:], mac.Sum(nil)) {
		t.Errorf("tag %x", c.Tag)
	}
	h := secret.Reveal(a.secrets[1].hidden)
	want := sha256.Sum256([]byte(field([]byte("cosketch/1/agree/commitment")...) + field(a.group.Study[:]...) + field(0, 0, 0, 1) +
		field(a.group.Members[1][:]...) + field(h.contribution[:]...) + field(h.blinder[:]...)))
	if c := a.secrets[1].Commit(); c.Commitment != want {
		t.Errorf("commitment %x, want %x", c.Commitment, want)
	}
}

// Members draw the same values in every case below, so the seeds differ only by what they are bound
// to.
func TestSeedIsBound(t *testing.T) {
	seen := map[[32]byte]string{}
	for name, change := range map[string]func(*Group){
		"unchanged":        func(*Group) {},
		"study":            func(g *Group) { g.Study[31] ^= 1 },
		"attempt":          func(g *Group) { g.Attempt++ },
		"roster":           func(g *Group) { g.Roster[31] ^= 1 },
		"first member out": func(g *Group) { g.Members = g.Members[1:] },
		"last member out":  func(g *Group) { g.Members = g.Members[:2] },
		"one member more":  func(g *Group) { g.Members = append(g.Members, [32]byte{9}) },
		"another member":   func(g *Group) { g.Members[2] = [32]byte{9} },
	} {
		g := group(3)
		change(&g)
		root := shared(t, g).open(t, 0).Seed.Bytes()
		if before, found := seen[root]; found {
			t.Errorf("%s and %s give one seed", name, before)
		}
		seen[root] = name
	}
	a := committed(t, group(3))
	a.commits[1].ID[0] ^= 1 // the same commit in another envelope
	for i := range a.secrets {
		a.shares = append(a.shares, a.share(t, i))
	}
	if before, found := seen[a.open(t, 0).Seed.Bytes()]; found {
		t.Errorf("another commit envelope and %s give one seed", before)
	}
}

// Secrets work only for the study, attempt, group and commit that they were drawn for.
func TestSecretsServeOneAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*attempt)
		want   string
	}{
		"another study":          {func(a *attempt) { a.group.Study[0] ^= 1 }, "another study or attempt"},
		"another attempt":        {func(a *attempt) { a.group.Attempt++ }, "another study or attempt"},
		"not a member":           {func(a *attempt) { a.group.Members[0] = [32]byte{0, 1} }, "not a member"},
		"alone":                  {func(a *attempt) { a.group.Members = a.group.Members[:1] }, "group of 1"},
		"members out of order":   {func(a *attempt) { slices.Reverse(a.group.Members) }, "ascending"},
		"a commit missing":       {func(a *attempt) { a.commits = a.commits[:2] }, "2 commits for 3 members"},
		"a commit too many":      {func(a *attempt) { a.commits = append(a.commits, a.commits[0]) }, "4 commits for 3 members"},
		"own commitment changed": {func(a *attempt) { a.commits[0].Message.Commitment[0] ^= 1 }, "own commit"},
		"own key changed": {func(a *attempt) {
			a.commits[0].Message.EphemeralKey = a.commits[1].Message.EphemeralKey
		}, "own commit"},
	} {
		a := shared(t, group(3))
		c.change(a)
		_, shareErr := a.secrets[0].Share(a.group, a.commits)
		o, openErr := a.secrets[0].Open(a.group, a.commits, a.shares)
		for _, err := range []error{shareErr, openErr} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
		if !o.Seed.IsZero() {
			t.Errorf("%s: there is a seed", name)
		}
	}
	a := shared(t, group(3))
	if _, err := a.secrets[0].Open(a.group, a.commits, a.shares[:2]); err == nil {
		t.Error("opened with a share missing")
	}
}

// Members that were shown different rosters do not obtain a seed.
func TestDifferentRostersGiveNoSeed(t *testing.T) {
	a := committed(t, group(3))
	other := *a
	other.group.Roster[0] ^= 1
	a.shares = []Posted[Share]{a.share(t, 0), a.share(t, 1), other.share(t, 2)}
	for i := range 2 {
		_, err := a.secrets[i].Open(a.group, a.commits, a.shares)
		checkFault(t, fmt.Sprintf("member %d", i), err, 2, ErrTranscript)
	}
	other.shares = a.shares
	_, err := other.secrets[2].Open(other.group, other.commits, other.shares)
	checkFault(t, "member 2", err, 0, ErrTranscript)
}

func TestGroupValidate(t *testing.T) {
	for _, g := range []Group{group(2), group(3), groupOf(64, false), group(MaxMembers)} {
		if err := g.Validate(); err != nil {
			t.Errorf("%d members: %v", len(g.Members), err)
		}
	}
	twins := group(3)
	twins.Members[1] = twins.Members[0]
	turned := group(3)
	slices.Reverse(turned.Members)
	for name, g := range map[string]Group{
		"nobody": group(0), "one": group(1), "1001": group(MaxMembers + 1), "65 whole": groupOf(65, false), "twins": twins, "descending": turned,
	} {
		if g.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A sealed share has the size that the specification gives, whatever its content.
func TestSealedSize(t *testing.T) {
	a := shared(t, group(3))
	if SealedSize != 1232 {
		t.Errorf("a sealed share has %d bytes, want 1,232", SealedSize)
	}
	for _, sh := range a.shares {
		for _, sealed := range sh.Message.Sealed {
			if len(sealed) != SealedSize {
				t.Errorf("a sealed share has %d bytes, want %d", len(sealed), SealedSize)
			}
		}
	}
}

// A text sealed from i to j opens as such, and as nothing else.
func TestSealedSharesBindSenderAndReceiver(t *testing.T) {
	const n = 4
	a := shared(t, group(n))
	t1 := a.group.T1(ids(a.commits))
	for from := range n {
		for to := range n {
			if from == to {
				continue
			}
			sealed := a.shares[from].Message.Sealed[place(from, to)]
			for i := range n {
				for j := range n {
					plain, err := hpke.Open(secret.Reveal(a.secrets[to].hidden).ephemeral, kdf(), aead(), shareInfo(t1, i, j), sealed)
					if opened := err == nil; opened != (i == from && j == to) {
						t.Errorf("share from %d to %d opens as one from %d to %d: %v", from, to, i, j, opened)
					}
					if err != nil {
						continue
					}
					h := secret.Reveal(a.secrets[from].hidden)
					half, err := a.secrets[from].pairHalf(t1, to)
					if err != nil || !bytes.Equal(plain, slices.Concat(h.contribution[:], h.blinder[:], half)) {
						t.Errorf("share from %d to %d holds something else: %v", from, to, err)
					}
				}
			}
			other := t1
			other[0] ^= 1
			if _, err := hpke.Open(secret.Reveal(a.secrets[to].hidden).ephemeral, kdf(), aead(), shareInfo(other, from, to), sealed); err == nil {
				t.Errorf("share from %d to %d opens under another T1", from, to)
			}
		}
	}
}

// The halves of every pair are fresh: different for each direction and transcript.
func TestPairHalves(t *testing.T) {
	a := committed(t, group(4))
	seen := map[string]bool{}
	for _, t1 := range [][32]byte{{1}, {2}} {
		for i, s := range a.secrets {
			for j := range a.secrets {
				half, err := s.pairHalf(t1, j)
				if err != nil {
					t.Fatal(err)
				}
				if len(half) != 32 || seen[string(half)] {
					t.Errorf("half of member %d with %d: %x", i, j, half)
				}
				seen[string(half)] = true
			}
		}
	}
}

// The last member to share knows every contribution. It may re-seal as often as it likes: this
// changes T2, but neither the seed nor anything derived from it.
func TestResealingDoesNotSteerTheSeed(t *testing.T) {
	a := shared(t, group(3))
	before := a.open(t, 0)
	confirmed := a.confirm(t, 1)
	a.shares[2] = a.share(t, 2)
	after := a.open(t, 0)
	if after.T2 == before.T2 {
		t.Fatal("the share was not sealed afresh")
	}
	if after.T1 != before.T1 || !after.Seed.Equal(before.Seed) {
		t.Error("re-sealing a share changed the seed")
	}
	for _, label := range []seed.Label{seed.RecordRows, seed.ColumnRows, seed.Confirm} {
		one, errOne := before.Seed.Derive(label)
		two, errTwo := after.Seed.Derive(label)
		if errOne != nil || errTwo != nil || one != two {
			t.Errorf("re-sealing changed %s: %v, %v", label, errOne, errTwo)
		}
	}
	// A confirmation of one transcript is not valid for the other.
	if err := after.Check(a.group.Members[1], confirmed); err != ErrTranscript {
		t.Errorf("confirmation of the share before: %v", err)
	}
}

func TestLabelsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, label := range []string{labelCommitment, labelT1, labelT2, labelShare, labelPair} {
		if seen[label] || !strings.HasPrefix(label, "cosketch/1/agree/") {
			t.Errorf("label %q", label)
		}
		seen[label] = true
	}
	if !bytes.Equal(shareInfo([32]byte{1}, 2, 3), transcript.Join("cosketch/1/agree/share", append([]byte{1}, make([]byte, 31)...), []byte{0, 0, 0, 2}, []byte{0, 0, 0, 3})) {
		t.Error("the info of a sealed share")
	}
}

func BenchmarkShare(b *testing.B) {
	for _, n := range []int{3, MaxMembers} {
		a := committed(b, group(n))
		b.Run(fmt.Sprintf("%d members", n), func(b *testing.B) {
			for b.Loop() {
				a.share(b, 0)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{3, MaxMembers} {
		a := shared(b, group(n))
		b.Run(fmt.Sprintf("%d members", n), func(b *testing.B) {
			for b.Loop() {
				a.open(b, 0)
			}
		})
	}
}
