package study_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

func TestParseReadsEveryField(t *testing.T) {
	source := file(t, "registry")
	s := parse(t, source)
	if s.ID != protocol.StudyID(sha256.Sum256([]byte(source))) || string(s.Source) != source {
		t.Error("the id is not the SHA-256 of the bytes")
	}
	if s.Name != "registry-2026" || s.Nonce[1] != 0x11 || s.Partition != study.Vertical {
		t.Errorf("name %q, nonce %x, partition %s", s.Name, s.Nonce, s.Partition)
	}
	if len(s.Aggregator.Addrs) != 2 || len(s.Aggregator.HPKE) != 1216 {
		t.Errorf("aggregator %+v", s.Aggregator)
	}
	if !slices.IsSortedFunc(s.Parties, func(a, b study.Party) int { return a.ID.Compare(b.ID) }) || len(s.Parties) != 3 {
		t.Errorf("parties not in key order: %v", s.Parties)
	}
	if s.Expires.String() != "2026-12-01T17:00:00Z" || s.Deadline.String() != "2026-12-15T17:00:00Z" {
		t.Errorf("expires %s, deadline %s", s.Expires, s.Deadline)
	}
	wantRecords := study.Records{
		ID: []string{"patient"}, Duplicates: study.DuplicatesRefuse, Missing: study.MissingCentre,
		Normalize: []study.Normalization{study.NormalizeNFC, study.NormalizeTrim, study.NormalizeCasefold},
	}
	if fmt.Sprint(s.Records) != fmt.Sprint(wantRecords) {
		t.Errorf("records %+v, want %+v", s.Records, wantRecords)
	}
	age, _ := fixedpoint.CentreSpread(47, 21)
	income, _ := fixedpoint.Bounds(0, 250000)
	if s.Columns[0].Scale != age || s.Columns[0].Source != "census 2021" || s.Columns[1].Scale != income {
		t.Errorf("columns %+v", s.Columns[:2])
	}
	if c := s.Columns[3]; c.Kind != study.Categorical || !slices.Equal(c.Values, []string{"a", "b", "c"}) || c.Owner != "south" {
		t.Errorf("ward %+v", c)
	}
	wantSketch := study.Sketch{
		Side: sketch.Columns, Projection: projection.Spec{Family: projection.Sparse, K: 1000, S: 1},
		Share: 1, Helpers: study.Helpers{Ones: 0.3}, Clip: 0.8,
	}
	if !reflect.DeepEqual(s.Sketches[0], wantSketch) {
		t.Errorf("sketch %+v, want %+v", s.Sketches[0], wantSketch)
	}
	if want := (study.Privacy{Unit: dp.Record, Mechanism: dp.Gaussian, Epsilon: 1, Delta: 1e-6}); s.Privacy != want {
		t.Errorf("privacy %+v", s.Privacy)
	}
	if want := []study.Analysis{{Kind: study.Correlation, Intervals: study.IntervalsEach, Options: study.CorrelationOptions{Estimator: study.E2}}, {Kind: study.Intersection, Intervals: study.IntervalsEach}}; !slices.Equal(s.Analyses, want) {
		t.Errorf("analyses %+v", s.Analyses)
	}
}

func TestParseFillsInDefaults(t *testing.T) {
	registry, hospitals, laboratories := file(t, "registry"), file(t, "hospitals"), file(t, "laboratories")
	two := edit(t, hospitals, "  - {side: records, family: sparse, k: 32}",
		"  - {side: records, family: identity, share: 3}\n  - {side: columns, family: rademacher, k: 64}")
	auto := edit(t, hospitals, "{kind: k-means, clusters: 2}", "{kind: k-means, clusters: auto}, {kind: neighbors}, {kind: outliers}")
	tests := []struct {
		what      string
		source    string
		got, want func(*study.Study) any
	}{
		{"quorum", registry, func(s *study.Study) any { return s.Quorum }, is(3)},
		{"bits auto", registry, func(s *study.Study) any { return s.Bits }, is(fixedpoint.AutoBits(1000))},
		{"bits by the largest k", two, func(s *study.Study) any { return s.Bits }, is(fixedpoint.AutoBits(64))},
		{"bits left out", hospitals, func(s *study.Study) any { return s.Bits }, is(fixedpoint.AutoBits(32))},
		{"s", edit(t, registry, " s: 1,", ""), func(s *study.Study) any { return s.Sketches[0].Projection.S }, is(1)},
		{"ones under unit record", edit(t, registry, " helpers: {ones: 0.3, squares: false},", ""), func(s *study.Study) any { return s.Sketches[0].Helpers.Ones }, is(0.7)},
		{"ones without noise", laboratories, func(s *study.Study) any { return s.Sketches[0].Helpers.Ones }, is(1.0)},
		{"ones not needed", edit(t, laboratories, "analyses: [{kind: correlation}, {kind: intersection}]", "analyses: [{kind: cosine}]"), func(s *study.Study) any { return s.Sketches[0].Helpers.Ones }, is(0.0)},
		{"ones on the records side", hospitals, func(s *study.Study) any { return s.Sketches[0].Helpers.Ones }, is(0.0)},
		{"normalize", edit(t, hospitals, "normalize: [nfc, trim], ", ""), func(s *study.Study) any { return s.Records.Normalize }, is([]study.Normalization{"nfc", "trim"})},
		{"normalize by nothing", edit(t, hospitals, "normalize: [nfc, trim]", "normalize: []"), func(s *study.Study) any { return len(s.Records.Normalize) }, is(0)},
		{"missing", edit(t, hospitals, ", missing: refuse", ""), func(s *study.Study) any { return s.Records.Missing }, is(study.MissingRefuse)},
		{"kurtosis", registry, func(s *study.Study) any { return s.Columns[0].Kurtosis }, is(3.0)},
		{"restarts", hospitals, func(s *study.Study) any { return s.Analyses[0].Options.(study.KMeansOptions).Restarts }, is(10)},
		{"identity's k", two, func(s *study.Study) any { return s.Sketches[0].Projection.K }, is(30)},
		{"shares", two, func(s *study.Study) any { return []float64{s.Sketches[0].Share, s.Sketches[1].Share} }, is([]float64{0.75, 0.25})},
		{"later", registry, func(s *study.Study) any { return s.Later }, is([]study.AnalysisKind{"inner-product", "distance", "cosine", "covariance", "correlation", "intersection", "pca", "regression", "clustering", "sums"})},
		{"options of pca", edit(t, registry, "{kind: correlation}", "{kind: pca}"), options, is("components: 10, scale: true, centre: true")},
		{"not centred, so not scaled", edit(t, registry, "{kind: correlation}", "{kind: pca, centre: false}"), options, is("components: 10, scale: false, centre: false")},
		{"options of a regression", edit(t, registry, "{kind: correlation}", "{kind: regression, target: age, on: [income, ward], ridge: 0.1}"), options, is("target: age, on: [income, ward], ridge: 0.1")},
		{"ridge by default", edit(t, registry, "{kind: correlation}", "{kind: regression, target: age}"), func(s *study.Study) any { return s.Analyses[0].Options.(study.RegressionOptions).Ridge }, is(study.Ridge{Auto: true})},
		{"ridge: auto", edit(t, registry, "{kind: correlation}", "{kind: regression, target: age, ridge: auto}"), func(s *study.Study) any { return s.Analyses[0].Options.(study.RegressionOptions).Ridge }, is(study.Ridge{Auto: true})},
		{"no ridge", edit(t, registry, "{kind: correlation}", "{kind: regression, target: age, ridge: 0}"), options, is("target: age, ridge: 0")},
		{"options of a clustering", edit(t, registry, "{kind: correlation}", "{kind: clustering, linkage: ward}"), options, is("linkage: ward, distance: signed")},
		{"ones for a regression", edit(t, laboratories, "{kind: correlation}", "{kind: regression, target: se area}"), func(s *study.Study) any { return s.Sketches[0].Helpers.Ones }, is(1.0)},
		{"later of records", hospitals, func(s *study.Study) any { return s.Later }, is([]study.AnalysisKind{"k-means", "group-distance", "record-distance", "neighbors", "outliers"})},
		{"clusters", auto, func(s *study.Study) any { return s.Analyses[0].Options }, is(study.KMeansOptions{Auto: true, MaxClusters: 10, Restarts: 10})},
		{"neighbors", auto, func(s *study.Study) any { return s.Analyses[1].Options }, is(study.NeighborsOptions{Neighbors: 10})},
		{"intervals of neighbors", auto, func(s *study.Study) any { return s.Analyses[1].Intervals }, is(study.IntervalsEach)},
		{"outliers", auto, func(s *study.Study) any { return s.Analyses[2].Options }, is(study.OutliersOptions{Neighbors: 20, Score: study.ScoreLOF, Top: 10})},
		{"intervals", edit(t, registry, "{kind: correlation}", "{kind: correlation, intervals: all}"), func(s *study.Study) any { return []study.Intervals{s.Analyses[0].Intervals, s.Analyses[1].Intervals} }, is([]study.Intervals{"all", "each"})},
		{"intervals of k-means", hospitals, func(s *study.Study) any { return string(s.Analyses[0].Intervals) }, is("")},
		{"ones for a covariance", edit(t, laboratories, "{kind: correlation}", "{kind: covariance}"), func(s *study.Study) any { return s.Sketches[0].Helpers.Ones }, is(1.0)},
		{"later nothing", edit(t, laboratories, "later: [inner-product]", "later: []"), func(s *study.Study) any { return len(s.Later) }, is(0)},
		{"scale of a binary column", registry, func(s *study.Study) any { return s.Columns[2].Scale.String() }, is("bounds [0, 1]")},
	}
	for _, test := range tests {
		s := parse(t, test.source)
		if got, want := fmt.Sprint(test.got(s)), fmt.Sprint(test.want(s)); got != want {
			t.Errorf("%s: %s, want %s", test.what, got, want)
		}
	}
}

func options(s *study.Study) any { return s.Analyses[0].Options }

func is(want any) func(*study.Study) any { return func(*study.Study) any { return want } }

func TestParseReportsSeveralErrorsInFileOrder(t *testing.T) {
	source := file(t, "registry")
	source = edit(t, source, "partition: vertical", "partition: diagonal")
	source = edit(t, source, "name: registry-2026", "name: 7")
	source = edit(t, source, "epsilon: 1", "epsilon: one")
	_, err := studyfile.Parse([]byte(source))
	var all schema.Errors
	if !errors.As(err, &all) || len(all) != 3 {
		t.Fatalf("%v", err)
	}
	if keys := []string{all[0].Key, all[1].Key, all[2].Key}; !slices.Equal(keys, []string{"name", "partition", "privacy.epsilon"}) {
		t.Errorf("errors at %v", keys)
	}
	var one *schema.Error
	if !errors.As(err, &one) || one.Line != 3 || one.Column != 7 {
		t.Errorf("first error %+v", one)
	}
}

// wide returns the registry study with more columns.
func wide(t testing.TB, columns int) string {
	var b strings.Builder
	b.WriteString("columns:\n")
	for i := range columns {
		fmt.Fprintf(&b, "  - {name: extra %d, kind: numeric, bounds: [0, %d], owner: west}\n", i, i+1)
	}
	return edit(t, file(t, "registry"), "columns:\n", b.String())
}

func TestParseLimits(t *testing.T) {
	if s := parse(t, wide(t, study.MaxColumns-5)); len(s.Columns) != study.MaxColumns {
		t.Errorf("%d columns", len(s.Columns))
	}
	party := "  - {name: north, id: " + northID + "}\n"
	values := "[" + strings.Repeat("v, ", study.MaxValues+1) + "w]"
	for _, test := range []struct{ source, want string }{
		{wide(t, study.MaxColumns-4), "columns: has 10001 entries, at most 10000"},
		{edit(t, file(t, "registry"), party, strings.Repeat(party, study.MaxParties-2)+party), "parties: has 1001 entries, at most 1000"},
		{edit(t, file(t, "registry"), "[a, b, c]", values), "columns[3].values: has 1002 entries, at most 1000"},
		{file(t, "registry") + strings.Repeat("# padding\n", studyfile.MaxSource/10), "line 1, column 1: the file has"},
	} {
		if _, err := studyfile.Parse([]byte(test.source)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("want %q, have %v", test.want, err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, columns := range []int{1, 1000, 9000} {
		source := []byte(wide(b, columns))
		b.Run(fmt.Sprintf("columns=%d", columns), func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				if _, err := studyfile.Parse(source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestParseStopsCollectingErrors(t *testing.T) {
	// More errors than are kept, of every kind that reads several values: the readers must not
	// assume that an error was kept.
	bad := strings.Repeat("  - {name: 1, kind: numeric, bounds: 3, owner: [x], source: {a: b}, kurtosis: x}\n", 50)
	source := edit(t, file(t, "registry"), "columns:\n", "columns:\n"+bad)
	source = edit(t, source, "bits: auto", "bits: x")
	_, err := studyfile.Parse([]byte(source))
	var all schema.Errors
	if !errors.As(err, &all) || len(all) != 20 {
		t.Fatalf("%d errors", len(all))
	}
}
