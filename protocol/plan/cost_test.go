package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// The cost of a study grows with records and with columns. Twice the records take twice the time
// once there are many.
func TestCostGrows(t *testing.T) {
	a, b := sumsPlan(t, 1_000_000).Cost, sumsPlan(t, 2_000_000).Cost
	if ratio := b.PartySeconds / a.PartySeconds; ratio < 1.9 || ratio > 2.1 {
		t.Errorf("twice the records take %.2f times as long", ratio)
	}
	if a.Sent == 0 || a.PartyMemory < partyBytes || a.AggregatorMemory < aggregatorBytes || a.AggregatorDisk < 2*a.Sent {
		t.Errorf("cost %+v", a)
	}
	wider := planOf(t, horizontal(24, bothSides, perRecordGaussian), func(o *Options) { o.Records = map[string]int64{"": 1_000_000} }).Cost
	if wider.PartySeconds <= a.PartySeconds || wider.Sent <= a.Sent {
		t.Errorf("12 columns: %+v, 24: %+v", a, wider)
	}
	if says := a.Says(); !strings.HasPrefix(says, "It takes a party about 3 seconds of one core and ") || !strings.HasSuffix(says, " of disk.") {
		t.Error(says)
	}
	for s, want := range map[float64]string{0.2: "a second", 59.1: "60 seconds", 179: "179 seconds", 600: "10 minutes", 7200: "120 minutes", 36000: "10 hours", 900000: "10 days"} {
		if got := seconds(s); got != want {
			t.Errorf("%g s: %q, want %q", s, got, want)
		}
	}
}

// A plan warns of more records than exact sums hold, and names the bits that suffice, if any.
func TestBeyondExactSums(t *testing.T) {
	warned := func(p Plan) Warning {
		at := slices.IndexFunc(p.Warnings, func(w Warning) bool { return strings.Contains(w.Text, "its data will be refused") })
		if at < 0 {
			return Warning{}
		}
		return p.Warnings[at]
	}
	if w := warned(sumsPlan(t, 1_000_000)); w.Text != "" {
		t.Error(w)
	}
	if w := warned(sumsPlan(t, 5_000_000_000)); len(w.Change) != 1 || !strings.HasPrefix(w.Change[0], "bits: ") {
		t.Errorf("of 5·10^9 records: %+v", w)
	}
	rows := planOf(t, horizontal(3, "{side: records, family: identity}", "{unit: attribute, mechanism: laplace, epsilon: 1}"), func(o *Options) { o.Records = map[string]int64{"": 1 << 32} })
	if w := warned(rows); w.Text == "" || len(w.Change) != 0 {
		t.Errorf("of 2^32 rows: %+v", w)
	}
}

// An agreement costs each party a fixed amount for each other one. What it reads grows with the
// number of parties if texts are sent separately, and with its square below that. (In masked sums,
// real nodes of 64, 128 and 256 parties read 304, 581 and 1,142 kB, and 5,203 kB when 64 kept texts
// in their shares.)
func TestCostOfAgreement(t *testing.T) {
	of := func(parties int, apart bool) Cost {
		s := &study.Study{Parties: make([]study.Party, parties)}
		if apart {
			s.Sealed = study.SealedApart
		}
		c, err := Options{Study: s, Party: 0}.cost(nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		parties int
		apart   bool
		kB      float64
	}{{64, false, 5203}, {64, true, 304}, {128, true, 581}, {256, true, 1142}} {
		if got := float64(of(c.parties, c.apart).Agreed) / 1000; got < .8*c.kB || got > 1.1*c.kB {
			t.Errorf("%d parties, apart %t: %.0f kB are read, measured were %.0f", c.parties, c.apart, got, c.kB)
		}
	}
	few, many := of(100, true), of(1000, true)
	if extra := many.PartySeconds - few.PartySeconds; extra < 900*AgreeTime/1e9 || extra > 900*2*AgreeTime/1e9 {
		t.Errorf("900 more parties take %g s", extra)
	}
	if many.AggregatorDisk < 80*few.AggregatorDisk || many.AggregatorDisk > 120*few.AggregatorDisk {
		t.Errorf("100 parties take the aggregator %d bytes, 1,000 %d", few.AggregatorDisk, many.AggregatorDisk)
	}
}

// A party that chooses its clip holds sums for each clip, so many columns take more memory. Pairs
// take the aggregator longer than means.
func TestCostOfManyColumns(t *testing.T) {
	cost := func(sketch, ask string) Cost {
		return planOf(t, moments(repeated(300, "numeric, centre: 0, spread: 1"), sketch, ask)).Cost
	}
	one, own := cost("{side: moments, clip: 20}", "{kind: correlation}"), cost("{side: moments, clip: own}", "{kind: correlation}")
	if least := int64(3 * 8 * 300 * 300 / 2 * 4); own.PartyMemory < one.PartyMemory+least {
		t.Errorf("%d bytes with an own clip, %d with one: want at least %d more", own.PartyMemory, one.PartyMemory, least)
	}
	if means := cost("{side: moments, clip: own}", "{kind: mean}"); own.AggregatorSeconds < means.AggregatorSeconds+300*300/2*sumsPair/1e9/2 {
		t.Errorf("correlations take %g s, means %g", own.AggregatorSeconds, means.AggregatorSeconds)
	}
}
