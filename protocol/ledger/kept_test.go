package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Reserved debits of releases under way count against a cap like spent ones, both in Check and in
// Largest.
func TestKeptCountsAgainstTheCap(t *testing.T) {
	half := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	spent := []Entry{entry(1, 0, dp.Record, half)}
	next := entry(3, 0, dp.Record, half)
	caps := Caps{Record: &dp.Budget{Epsilon: 1.5}, Kept: []Entry{entry(2, 0, dp.Record, half)}}
	if err := Check(spent, next, caps, Consent{}); err != nil {
		t.Fatal(err)
	}
	if fit := Largest(spent, []Entry{next}, half, caps); fit.Budget.Epsilon != 0.5 {
		t.Errorf("%v", fit)
	}
	caps.Record.Epsilon = 1.3
	var exceeded *Exceeded
	if err := Check(spent, next, caps, Consent{}); !errors.As(err, &exceeded) {
		t.Fatalf("got %v", err)
	}
	if !near(exceeded.Spent, 0.5) || !near(exceeded.Kept, 0.5) || !near(exceeded.Asked, 0.5) || !near(exceeded.After, 1.5) || !near(exceeded.Left(), 0.3) {
		t.Errorf("%+v", exceeded)
	}
	fit := Largest(spent, []Entry{next}, half, caps)
	exceeded.Fits = &fit
	const want = `dataset "registry", unit record: the release asks for ε = 0.5 and would bring the total from 0.5 (with ε = 0.5 that second rounds under way will need) to 1.5, above the cap of ε = 1.3, of which ε = 0.3 is left; a laplace study of up to ε = 0.3 would fit (ask for less, or raise caps.record in the site file)`
	if exceeded.Error() != want || !errors.Is(exceeded.Fail(), fail.BudgetExceeded) {
		t.Errorf("the error is\n%v\nwant\n%s", exceeded, want)
	}
	other := caps
	other.Kept = []Entry{caps.Kept[0]}
	other.Kept[0].Dataset = "another"
	if err := Check(spent, next, other, Consent{}); err != nil {
		t.Errorf("what another dataset keeps is counted: %v", err)
	}
	caps.Record.Epsilon = 1
	if fit := Largest(spent, []Entry{next}, half, caps); fit.Budget.Epsilon != 0 || fit.String() != "no laplace study fits any more" {
		t.Errorf("%v", fit)
	}
}

// A remainder due to rounding counts as 0. A total states its δ and number of releases.
func TestLeftAndTotals(t *testing.T) {
	for _, c := range [][3]dp.Epsilon{{2, 0.5, 1.5}, {2, 2, 0}, {2, 3, 0}, {2, 2 - 1e-8, 0}, {2, 2 - 4e-8, 4e-8}} {
		if got := Left(dp.Budget{Epsilon: c[0]}, c[1]); !near(got, c[2]) {
			t.Errorf("of %g less %g %g is left", float64(c[0]), float64(c[1]), float64(got))
		}
	}
	if left := (&Exceeded{}).Left(); left != 0 {
		t.Errorf("of no cap %g is left", float64(left))
	}
	half := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	account := Account{Dataset: "registry", Unit: dp.Record, Delta: 1e-6}
	pure := Total([]Entry{entry(1, 0, dp.Record, half)}, account)
	if pure.String() != "ε = 0.5, δ = 1e-06 after 1 releases" || pure.DeltaAt(0.5) != 0 || !(pure.DeltaAt(0.1) > 0) {
		t.Errorf("%v, %g", pure, float64(pure.DeltaAt(0.1)))
	}
	open := Total([]Entry{entry(1, 0, dp.Record, promise(t, dp.None, dp.Budget{})), entry(2, 0, dp.Record, half)}, account)
	if open.String() != "unbounded (a release without noise) after 2 releases" || open.DeltaAt(3) != 1 {
		t.Errorf("%v", open)
	}
	if loss := (Entry{Mechanism: dp.Gaussian, Mu: 2, Unit: dp.Attribute, Attributes: 3}).loss(dp.Record); loss != (dp.Loss{Mu: 6}) {
		t.Errorf("three attributes lose %+v", loss)
	}
	if loss := (Entry{Mechanism: dp.RandomisedResponse, Epsilon: 2, Unit: dp.Record, Attributes: 3}).loss(dp.Attribute); loss != dp.PureLoss(2).Times(2) {
		t.Errorf("a value of a record loses %+v", loss)
	}
}

// The limit of each field is the last value accepted.
func TestFieldsAtTheirLimits(t *testing.T) {
	half := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	for name, c := range map[string]struct {
		change func(e *Entry, beyond int)
	}{
		"sketch":     {func(e *Entry, n int) { e.Sketch = MaxSketch - 1 + n }},
		"query":      {func(e *Entry, n int) { e.Query = MaxQuery - 1 + n }},
		"round":      {func(e *Entry, n int) { e.Round = MaxRound - 1 + n }},
		"attributes": {func(e *Entry, n int) { e.Attributes = MaxAttributes + n }},
		"least":      {func(e *Entry, n int) { e.Attributes = 1 - n }},
		"time":       {func(e *Entry, n int) { e.At = protocol.Instant(-n) }},
		"dataset":    {func(e *Entry, n int) { e.Dataset = string(make([]byte, MaxDataset+n)) }},
		"both":       {func(e *Entry, n int) { e.Round, e.Query = 1, n }},
		"delta": {func(e *Entry, n int) {
			e.Mechanism, e.Mu, e.Delta = dp.Gaussian, 1, dp.Delta(math.Nextafter(1, 0)+float64(n)*1e-9)
		}},
		"infinite": {func(e *Entry, n int) { e.Epsilon = dp.Epsilon(math.MaxFloat64) * dp.Epsilon(1+n) }},
	} {
		for beyond, want := range []bool{true, false} {
			e := entry(1, 0, dp.Record, half)
			e.Sequence = 1
			c.change(&e, beyond)
			b, err := e.Encode()
			if (err == nil) != want {
				t.Errorf("%s, %d beyond the limit: %v", name, beyond, err)
			}
			if err != nil {
				continue
			}
			if back, err := DecodeEntry(b); err != nil || back != e {
				t.Errorf("%s: %v came back as %v: %v", name, e, back, err)
			}
			for n := range b {
				if _, err := DecodeEntry(b[:n]); err == nil {
					t.Errorf("%s: %d bytes of %d are read", name, n, len(b))
				}
			}
		}
	}
}

// The length of a field is checked: an entry with another length is refused, whatever follows.
func TestLengthsOfFieldsAreRead(t *testing.T) {
	e := entry(1, 0, dp.Record, promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5}))
	e.Sequence, e.Dataset = 1, strings.Repeat("d", MaxDataset)
	good, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{e.Dataset, string(e.Unit), string(e.Mechanism)} {
		at := bytes.Index(good, []byte(field)) - 4
		for _, n := range []uint32{0, uint32(len(field)) - 1, uint32(len(field)) + 1, MaxDataset + 1, MaxDataset + 2, math.MaxInt32, math.MaxUint32} {
			bad := slices.Clone(good)
			binary.BigEndian.PutUint32(bad[at:], n)
			if back, err := DecodeEntry(bad); err == nil {
				t.Errorf("a field of %d bytes is read with a length of %d: %v", len(field), n, back)
			}
		}
	}
	long := e
	long.Dataset += "d"
	if back, err := DecodeEntry(long.encode()); err == nil {
		t.Errorf("a longer name is read: %v", back)
	}
}

// The error of a broken chain says where, with the texts of the catalogue and of the entry.
func TestBrokenChainsAreNamed(t *testing.T) {
	half := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	entries := chain(t, entry(1, 0, dp.Record, half), entry(2, 0, dp.Record, half))
	entries[1].Attributes = 0
	var broken *BrokenChain
	if err := VerifyChain(entries); !errors.As(err, &broken) || broken.Sequence != 2 || broken.Err == nil || !errors.Is(err, broken.Err) {
		t.Fatalf("%v", err)
	}
	if want := fail.LedgerBroken.Of(broken.Err, uint64(2)); broken.Error() != want.Error() || broken.Fail().Error() != want.Error() {
		t.Errorf("%v, want %v", broken, want)
	}
}

// Limits of an entry are part of its encoding.
func TestLimitsArePinned(t *testing.T) {
	if got := [...]int{MaxDataset, MaxSketch, MaxQuery, MaxRound, MaxAttributes}; got != [...]int{256, 65_536, 32_768, 16, 16_777_216} {
		t.Errorf("%d", got)
	}
}

// A total that reaches a cap exactly, with the slack for rounding, is within it.
func TestACapIsReached(t *testing.T) {
	half := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	next := entry(1, 0, dp.Record, half)
	limit := 0.5 / (1 + capSlack)
	for limit*(1+capSlack) < 0.5 {
		limit = math.Nextafter(limit, 1)
	}
	for math.Nextafter(limit, 0)*(1+capSlack) >= 0.5 {
		limit = math.Nextafter(limit, 0)
	}
	if limit*(1+capSlack) != 0.5 {
		t.Fatalf("%g is not reached", limit)
	}
	for _, unit := range []dp.Unit{dp.Record, dp.Attribute} {
		next.Unit = unit
		for by, want := range []bool{false, true} {
			budget := &dp.Budget{Epsilon: dp.Epsilon([]float64{math.Nextafter(limit, 0), limit}[by])}
			caps := map[dp.Unit]Caps{dp.Record: {Record: budget}, dp.Attribute: {Attribute: budget}}[unit]
			if err := Check(nil, next, caps, Consent{}); (err == nil) != want {
				t.Errorf("a cap of %g: %v", float64(budget.Epsilon), err)
			}
			if got := within(nil, []Entry{next}, 1, caps); got != want {
				t.Errorf("within a cap of %g: %v", float64(budget.Epsilon), got)
			}
		}
	}
}
