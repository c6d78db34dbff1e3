package protocoltest

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/study"
)

// Many parties, whose sealed texts travel apart, agree and release masked sums to a result. One of
// them seals to a victim a text that does not open. It is convicted, and the others continue.
func TestManyParties(t *testing.T) {
	n := 70
	if full.Asked() {
		n = 300
	}
	s, err := Many(n, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	inTurn(t, s)
	if blame := s.Blame(); len(blame) != 1 || blame[0].Member != s.Liar().Signer.ID() || !blame[0].Proved {
		t.Errorf("the board blames %v", blame)
	}
}

// With COSKETCH_FULL=1: the largest number of parties that a study may have.
func TestMostParties(t *testing.T) {
	if !full.Asked() {
		t.Skip("takes minutes")
	}
	// The memory limit set by TestMain is for small live heaps; this test holds the state of all
	// parties.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(7 << 29))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	s, err := Many(study.MaxParties, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	inTurn(t, s)
}

// Features limited to fewer parties than a study may have are accepted at their limit and refused
// above it.
func TestWhatIsOfFewerParties(t *testing.T) {
	for _, test := range []struct {
		what   string
		terms  Terms
		most   int
		reason string
	}{
		{"joined records", Terms{Joined: true}, study.MostWhole, "records of 65 parties cannot be joined, at most 64 can"},
		{"releases that are not masked", Terms{}, study.MostUnmasked, "257 parties are too many without masked sums, at most 256 are possible"},
		{"masked sums", Terms{Masked: true}, study.MaxParties, "at most 1000"},
	} {
		test.terms.Parties = test.most
		if _, err := NewStudy(test.terms); err != nil {
			t.Errorf("%s of %d parties: %v", test.what, test.most, err)
		}
		test.terms.Parties++
		if _, err := NewStudy(test.terms); err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s of %d parties: %v", test.what, test.most+1, err)
		}
	}
}

// inTurn plays a study to its result. What a member reads grows linearly in the number of members,
// not quadratically.
func inTurn(t *testing.T, s *Simulation) {
	t.Helper()
	if !s.Study.Apart() {
		t.Fatalf("the texts of %d parties are in their shares", len(s.Parties))
	}
	got, err := s.ToResult()
	if err != nil {
		t.Fatal(err)
	}
	if most := got.Attempts * len(s.Parties) * (4 << 10); got.Read > most {
		t.Errorf("a party has read %d bytes, at most %d are for %d parties and %d attempts", got.Read, most, len(s.Parties), got.Attempts)
	}
	t.Logf("%d parties, %d attempts: a party reads %d kB", len(s.Parties), got.Attempts, got.Read/1000)
}
