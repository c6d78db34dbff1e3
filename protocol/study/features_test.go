package study_test

import (
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

func TestFeaturesOfAVerticalStudy(t *testing.T) {
	source := edit(t, file(t, "registry"), "squares: false", "squares: true")
	s := parse(t, source)
	south, _ := s.PartyByName("south")
	got := s.Features(south, 0)
	want := []study.Feature{
		{Column: 2, Kind: study.Value},
		{Column: 3, Value: "a", Kind: study.OneHot},
		{Column: 3, Value: "b", Kind: study.OneHot},
		{Column: 3, Value: "c", Kind: study.OneHot},
		{Column: 2, Kind: study.Square},
		{Column: 3, Value: "a", Kind: study.Square},
		{Column: 3, Value: "b", Kind: study.Square},
		{Column: 3, Value: "c", Kind: study.Square},
		{Column: -1, Kind: study.Ones},
	}
	if !slices.Equal(got, want) {
		t.Errorf("features of south\n got %v\nwant %v", got, want)
	}
	if own := s.OwnColumns(south); !slices.Equal(own, []int{2, 3}) {
		t.Errorf("columns of south %v", own)
	}
	if s.Merge(0) != study.Stack {
		t.Errorf("merge %s", s.Merge(0))
	}
	total := 0
	for party := range s.Parties {
		total += len(s.OwnColumns(party))
	}
	if total != len(s.Columns) {
		t.Errorf("parties own %d columns of %d", total, len(s.Columns))
	}
}

func TestFeaturesOfAHorizontalStudy(t *testing.T) {
	source := edit(t, file(t, "hospitals"), "{side: records, family: sparse, k: 32}",
		"{side: records, family: sparse, k: 32}\n  - {side: columns, family: sparse, k: 64, helpers: {ones: 0.5}}")
	s := parse(t, source)
	for party := range s.Parties {
		records, columns := s.Features(party, 0), s.Features(party, 1)
		if len(records) != 30 || slices.ContainsFunc(records, func(f study.Feature) bool { return f.Kind != study.Value }) {
			t.Errorf("party %d: records side has %d features, want the 30 values without the label", party, len(records))
		}
		tail := []study.Feature{{Column: 30, Value: "benign", Kind: study.OneHot}, {Column: 30, Value: "malignant", Kind: study.OneHot}, {Column: -1, Kind: study.Ones}}
		if len(columns) != 33 || !slices.Equal(columns[30:], tail) {
			t.Errorf("party %d: columns side ends in %v", party, columns[30:])
		}
	}
	if s.Merge(0) != study.Stack || s.Merge(1) != study.Add {
		t.Errorf("merge %s, %s", s.Merge(0), s.Merge(1))
	}
}

func TestPartyLookup(t *testing.T) {
	s := parse(t, file(t, "registry"))
	for i, p := range s.Parties {
		if got, ok := s.PartyIndex(p.ID); !ok || got != i {
			t.Errorf("index of %s: %d, %v", p.ID, got, ok)
		}
		if got, ok := s.PartyByName(p.Name); !ok || got != i {
			t.Errorf("index of %q: %d, %v", p.Name, got, ok)
		}
	}
	if _, ok := s.PartyIndex(s.Aggregator.ID); ok {
		t.Error("the aggregator was found among the parties")
	}
	if _, ok := s.PartyIndex(protocol.PeerID{}); ok {
		t.Error("the zero id was found among the parties")
	}
	if _, ok := s.PartyByName(""); ok {
		t.Error("the empty name was found among the parties")
	}
}

func TestSketchFor(t *testing.T) {
	const one = "{side: columns, family: sparse, k: 1000, s: 1, share: 1, helpers: {ones: 0.3, squares: false}, clip: 0.8}"
	const three = "{side: columns, family: sparse, k: 10, helpers: {ones: 0}, clip: 1}\n" +
		"  - {side: columns, family: sparse, k: 20, helpers: {ones: 0.3}, clip: 1}\n" +
		"  - {side: columns, family: sparse, k: 30, helpers: {ones: 0.3, squares: true}, clip: 1}"
	s := parse(t, edit(t, file(t, "registry"), one, three))
	for _, test := range []struct {
		analysis study.Analysis
		want     int
		ok       bool
	}{
		{study.Analysis{Kind: study.Cosine}, 0, true},
		{study.Analysis{Kind: study.Correlation, Options: study.CorrelationOptions{Estimator: study.E2}}, 1, true},
		{study.Analysis{Kind: study.Correlation, Options: study.CorrelationOptions{Estimator: study.E1}}, 2, true},
		{study.Analysis{Kind: study.Intersection}, 1, true},
		{study.Analysis{Kind: study.KMeans, Options: study.KMeansOptions{Clusters: 2}}, 0, false},
	} {
		if got, ok := s.SketchFor(test.analysis); got != test.want || ok != test.ok {
			t.Errorf("%+v: sketch %d, %v, want %d, %v", test.analysis, got, ok, test.want, test.ok)
		}
	}
}

func TestExposure(t *testing.T) {
	for _, test := range []struct {
		name string
		want dp.Exposure
	}{
		{"registry", dp.Exposure{Unit: dp.Record, Attributes: 5, Parties: 3}},
		{"hospitals", dp.Exposure{Unit: dp.Attribute, Attributes: 30, Parties: 1}}, // the label is in no sketch
		{"wards", dp.Exposure{Unit: dp.Record, Attributes: 31, Parties: 1}},
		{"laboratories", dp.Exposure{Attributes: 30, Parties: 3}},
	} {
		if got := parse(t, file(t, test.name)).Exposure(); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestRevealsFollowsTheRule(t *testing.T) {
	s := parse(t, file(t, "laboratories"))
	squares := parse(t, edit(t, file(t, "laboratories"), "k: 256", "k: 256, helpers: {squares: true}"))
	sparse := parse(t, edit(t, file(t, "laboratories"), "family: rademacher, k: 256", "family: sparse, k: 256"))
	identity := parse(t, edit(t, file(t, "hospitals"), "sparse, k: 32", "identity"))
	for _, test := range []struct {
		what    string
		study   *study.Study
		records int
		want    bool
	}{
		{"a tenth of the records", s, 2560, true},
		{"more than a tenth", s, 2559, false},
		{"a tenth, values and squares", squares, 5120, true},
		{"more than a tenth, values and squares", squares, 5119, false},
		{"20 records in a bucket", sparse, 5120, true},
		{"fewer than 20 in a bucket", sparse, 5119, false},
		{"records as they are", identity, 1 << 30, false},
	} {
		e, err := test.study.Reveals(0, 0, test.records)
		if err != nil {
			t.Fatal(err)
		}
		if ok, reason := e.Acceptable(); ok != test.want {
			t.Errorf("%s: acceptable %v (%s)", test.what, ok, reason)
		}
	}
}
