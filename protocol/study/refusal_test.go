package study_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/schema"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// golden compares text with a file of testdata, or rewrites the file with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w string
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Fatalf("%s, line %d (-update rewrites it):\n got %q\nwant %q", name, i+1, g, w)
		}
	}
}

// TestRefusals gives Parse many bad files, each a good one with one edit, and compares every
// message with testdata/refusals.txt.
func TestRefusals(t *testing.T) {
	var b strings.Builder
	for _, test := range refusals {
		source := edit(t, file(t, test.base), test.old, test.new)
		_, err := studyfile.Parse([]byte(source))
		var all schema.Errors
		if !errors.As(err, &all) {
			t.Errorf("%s: accepted", test.what)
			continue
		}
		for _, e := range all {
			if lines := strings.Count(source, "\n") + 1; e.Line < 1 || e.Line > lines || e.Column < 1 {
				t.Errorf("%s: %d:%d is outside the file", test.what, e.Line, e.Column)
			}
		}
		fmt.Fprintf(&b, "# %s\n%v\n\n", test.what, err)
	}
	golden(t, "refusals.txt", b.String())
}

const (
	aggregatorID = "12D3KooWCmBiXQRKqTPiQFZ7YKCxvewPEqWaUyGgemowB5mpeUBC"
	northID      = "12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5"
	southID      = "12D3KooWJWoaqZhDaoEFshF7Rh1bpY9ohihFhzcW6d69Lr2NASuq"
	sketchLine   = "{side: columns, family: sparse, k: 1000, s: 1, share: 1, helpers: {ones: 0.3, squares: false}, clip: 0.8}"
	privacyLine  = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	recordsLine  = "  - {side: records, family: sparse, k: 32}"
	askedLine    = "[{kind: correlation}, {kind: intersection}]"
)

var refusals = []struct{ what, base, old, new string }{
	// Text.
	{"tab", "registry", "name: registry-2026", "name:\tregistry-2026"},
	{"carriage return", "registry", "sum: plain\n", "sum: plain\r\n"},
	{"byte order mark", "registry", "cosketch: study/2", "\uFEFFcosketch: study/2"},
	{"next line starts a live line in a comment", "registry", "# Correlations", "# Corr\u0085max_attempts: 9"},
	{"line separator", "registry", "# Correlations", "# Corr\u2028elations"},
	{"paragraph separator", "registry", "# Correlations", "# Corr\u2029elations"},
	{"right-to-left override", "registry", "name: registry-2026", "name: registry-\u202e6202"},
	{"zero width joiner", "registry", "name: age", "name: a\u200dge"},
	{"not NFC", "hospitals", "Charité", "Charite\u0301"},
	{"not UTF-8", "hospitals", "Charité", "Charit\xe9"},
	{"nul", "registry", "sum: plain", "sum: plain\x00"},
	{"directive", "registry", "cosketch: study/2", "%YAML 1.2\n---\ncosketch: study/2"},
	{"an escape that brings in what the bytes do not show", "registry", "source: census 2021", `source: "census \u202e1202"`},
	{"an escaped line feed", "registry", "values: [a, b, c]", `values: [a, b, "c\n"]`},
	{"an escape that is not NFC", "registry", "values: [a, b, c]", `values: [a, b, "e\u0301"]`},

	// YAML.
	{"not YAML", "registry", "id: [patient]", "id: [patient"},
	{"second document", "registry", "sum: plain\n", "sum: plain\n---\na: 1\n"},
	{"duplicate key", "registry", "sum: plain\n", "sum: plain\nsum: plain\n"},
	{"duplicate key inside", "registry", "k: 1000, s: 1", "k: 1000, k: 8"},
	{"unknown key, near a known one", "registry", "deadline: 2026-12-15", "deadlin: 2026-12-15"},
	{"unknown key", "registry", "sum: plain", "colour: red"},
	{"unknown key inside", "registry", "epsilon: 1,", "epsilon: 1, sigma: 2,"},
	{"anchor", "registry", "name: registry-2026", "name: &n registry-2026"},
	{"alias", "registry", "name: registry-2026", "name: *n"},
	{"alias of an anchor", "registry", "sum: plain", "sum: &p plain\nlater: *p"},
	{"tag", "registry", "name: registry-2026", "name: !!str registry-2026"},
	{"non-specific tag", "registry", "name: registry-2026", "name: ! registry-2026"},
	{"merge key", "registry", "sum: plain", "<<: {sum: plain}"},
	{"key that is a list", "registry", "sum: plain", "? [sum]\n: plain"},
	{"key that is a number", "registry", "sum: plain", "1: plain"},
	{"quoted key", "registry", "sum: plain", `"sum": plain`},
	{"nested too deeply", "registry", "sum: plain", "sum: [[[[[[[[[[plain]]]]]]]]]]"},
	{"list where keys belong", "registry", privacyLine, "[record, gaussian]"},
	{"word where a list belongs", "registry", "id: [patient]", "id: patient"},
	{"first key", "registry", "cosketch: study/2\n", ""},
	{"another version", "registry", "study/2", "study/3"},
	{"the first version", "registry", "study/2", "study/1"},

	// Single values.
	{"silently typed number", "registry", "values: [a, b, c]", "values: [1, 2.50, 0x10]"},
	{"silently typed boolean", "registry", "values: [a, b, c]", "values: [yes, No, on]"},
	{"silently typed nothing", "registry", "values: [a, b, c]", "values: [~, null, ]"},
	{"quoted number", "registry", "epsilon: 1,", `epsilon: "1",`},
	{"leading zero", "registry", "k: 1000", "k: 0100"},
	{"plus sign", "registry", "centre: 47", "centre: +47"},
	{"no digit before the point", "registry", "ones: 0.3", "ones: .3"},
	{"infinity", "registry", "bounds: [0, 250000]", "bounds: [0, .inf]"},
	{"out of range", "registry", "bounds: [0, 250000]", "bounds: [0, 1e999]"},
	{"fraction where a whole number belongs", "registry", "k: 1000", "k: 1e3"},
	{"whole number out of range", "registry", "k: 1000", "k: 99999999999999999999"},
	{"boolean yes", "registry", "squares: false", "squares: no"},
	{"quoted boolean", "registry", "squares: false", `squares: "false"`},
	{"nonce", "registry", "00112233445566778899aabbccddeeff", "00112233445566778899AABBCCDDEEFF"},
	{"time", "registry", "2026-12-01T17:00:00Z", "2026-12-01 17:00"},
	{"no such day", "registry", "2026-12-01T17:00:00Z", "2026-02-30T17:00:00Z"},
	{"peer id", "registry", northID, "12D3KooW"},
	{"hpke is not base64", "registry", "hpke: ", "hpke: '*'  # "},
	{"hpke is not a key", "registry", "hpke: ", "hpke: QUJD  # "},
	{"address", "registry", "/dns4/agg.example.org/tcp/4001,", "agg.example.org:4001,"},
	{"address with a peer id", "registry", "/tcp/4001,", "/tcp/4001/p2p/" + aggregatorID + ","},
	{"no address", "registry", "[/dns4/agg.example.org/tcp/4001, /dns4/agg.example.org/tcp/443/tls/ws]", "[]"},
	{"name with a slash", "registry", "name: registry-2026", "name: registry/2026"},
	{"name with two spaces", "registry", "name: registry-2026", "name: registry  2026"},
	{"long name", "registry", "name: registry-2026", "name: " + strings.Repeat("r", 65)},
	{"empty value", "registry", "values: [a, b, c]", "values: [a, b, '']"},
	{"missing keys", "registry", "sum: plain\nmax_attempts: 1\nanalyses: " + askedLine + "\n", ""},

	// Words: unknown, and known but not supported.
	{"misspelt family", "registry", "family: sparse", "family: sprase"},
	{"unknown family", "registry", "family: sparse", "family: x"},
	{"misspelt family, near another", "hospitals", "family: sparse", "family: hadamart"},
	{"side moments", "registry", "side: columns", "side: moments"},
	{"side cells", "hospitals", recordsLine, "  - {side: cells, family: sparse, k: 32, L: 2, q: 1}"},
	{"moments of a vertical study", "registry", sketchLine, "{side: moments, clip: 0.8}"},
	{"moments under unit attribute", "hospitals", recordsLine, "  - {side: moments}"},
	{"moments under laplace", "wards", "mechanism: gaussian, epsilon: 1, delta: 1e-6", "mechanism: laplace, epsilon: 1"},
	{"moments with directions", "wards", "{side: moments, clip: 2", "{side: moments, L: 2, q: 1, clip: 2"},
	{"moments of a whole length, standardised", "wards", "{side: moments, clip: 2", "{side: moments, standardise: own, clip: whole"},
	{"columns of a union, standardised", "hospitals", recordsLine, "  - {side: columns, standardise: own, family: sparse, k: 32}"},
	{"records, standardised", "hospitals", recordsLine, "  - {side: records, standardise: own, family: sparse, k: 32}"},
	{"columns of single values, standardised", "registry", sketchLine, "{side: columns, standardise: own, family: sparse, k: 32, helpers: {ones: 1}}"},
	{"moments with sums of another weight", "wards", "{side: moments, clip: 2", "{side: moments, sums: 7, clip: 2"},
	{"moments clipped beyond 63 bits", "wards", "bits: auto", "bits: 14"},
	{"an estimator of moments", "wards", "{kind: correlation}", "{kind: correlation, estimator: E1}"},
	{"cells without directions", "wards", "L: 2, q: 1", "q: 1"},
	{"cells of too many directions", "wards", "L: 2, q: 1", "L: 13, q: 1"},
	{"more eigenvectors than features", "wards", "L: 2, q: 1", "L: 2, q: 31"},
	{"eigenvectors without moments", "wards", "  - {side: moments, clip: 2, share: 7}\n", ""},
	{"directions of columns", "registry", "share: 1,", "L: 2,"},
	{"public matrix of the columns side", "registry", "share: 1,", "matrix: public,"},
	{"public matrix of the identity", "clinics", "clip: 1.5,", "clip: 1.5, matrix: public,"},
	{"public matrix of moments", "wards", "{side: moments, clip: 2", "{side: moments, matrix: public, clip: 2"},
	{"public matrix of one of two sketches", "visitors", "matrix: public}", "matrix: public}\n  - {side: records, family: sparse, k: 16}"},
	{"unknown matrix", "visitors", "matrix: public", "matrix: open"},
	{"records of no party", "practices", "records: 4000", "records: 1"},
	{"records by half", "practices", "records: 4000", "records: 4000.5"},
	{"queries without a date", "visitors", "new_records_until: 2027-06-15T17:00:00Z\n", ""},
	{"queries without a number", "visitors", "releases: 4, records: 500", "records: 500"},
	{"too many queries", "visitors", "releases: 4", "releases: 101"},
	{"too many records of a query", "visitors", "records: 500", "records: 500000"},
	{"too many neighbors of a query", "visitors", "records: 500", "neighbors: 101"},
	{"queries without noise", "hospitals", "privacy: {unit: attribute, mechanism: laplace, epsilon: 8}", "privacy: {mechanism: none}\nnew_records_until: 2027-06-15T17:00:00Z\nqueries: {releases: 1}"},
	{"queries that nobody answers", "wards", "deadline: 2026-12-15T17:00:00Z", "deadline: 2026-12-15T17:00:00Z\nnew_records_until: 2027-06-15T17:00:00Z\nqueries: {releases: 1}"},
	{"masked sum of columns that stand beside each other", "registry", "sum: plain", "sum: masked\ncolluding: 1"},
	{"masked sum of another kind", "registry", "sum: plain", "sum: maskd"},
	{"masked sum of rows", "clinics", "privacy:", "sum: masked\ncolluding: 1\nprivacy:"},
	{"masked sum of laplace noise", "hospitals", recordsLine + "\n", "  - {side: columns, family: sparse, k: 32}\nsum: masked\ncolluding: 1\n"},
	{"masked sum of flipped bits", "survey", "privacy:", "sum: masked\ncolluding: 1\nprivacy:"},
	{"masked sum with late parties", "infirmaries", "deadline: 2026-12-15T17:00:00Z", "deadline: 2026-12-15T17:00:00Z\nlate_until: 2026-12-20T17:00:00Z"},
	{"masked sum of two", "infirmaries", "  - {name: Ospedale Maggiore, id: 12D3KooWRndVhVZPCiQwHBBBdg769GyrPUW13zxwqQyf9r3ANaba}\n", ""},
	{"nobody said to collude", "infirmaries", "colluding: 1\n", ""},
	{"nobody colludes", "infirmaries", "colluding: 1", "colluding: 0"},
	{"too many collude", "infirmaries", "colluding: 1", "colluding: 2"},
	{"sealed texts in another way", "infirmaries", "colluding: 1\n", "colluding: 1\nsealed: whole\n"},
	{"a plain sum with colluding parties", "infirmaries", "sum: masked", "sum: plain"},
	{"a look in one round", "infirmaries", sickSketches, "  - {side: look}\n  - {side: moments, standardise: own}\n" + sickTerms},
	{"a look that nothing goes by", "infirmaries", sickSketches, "  - {side: look}\n  - {side: moments, clip: 2}\nrounds: 2\n" + sickTerms},
	{"a look that is cut", "infirmaries", sickSketches, "  - {side: look, clip: 2}\n  - {side: moments, standardise: own}\nrounds: 2\n" + sickTerms},
	{"a look at lengths and at values", "infirmaries", sickSketches, "  - {side: look}\n  - {side: moments, standardise: own}\n  - {side: moments, products: false, clip: own}\nrounds: 2\n" + sickTerms},
	{"two looks", "infirmaries", sickSketches, "  - {side: look}\n  - {side: look}\n  - {side: moments, standardise: own}\nrounds: 2\n" + sickTerms},
	{"a look beside codes", "infirmaries", sickSketches, "  - {side: look}\n  - {side: moments, standardise: own}\n  - {side: codes}\nrounds: 2\n" + sickTerms},
	{"a look at plain sums", "infirmaries", sickSketches + "colluding: 1\n", "  - {side: look}\n  - {side: moments, standardise: own}\nrounds: 2\nprivacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}\n"},
	{"two rounds of nothing", "infirmaries", sickSketches, "  - {side: moments, clip: 2}\nrounds: 2\n" + sickTerms},
	{"randomised response", "registry", "mechanism: gaussian", "mechanism: randomised-response"},
	{"summed duplicates", "registry", "duplicates: refuse", "duplicates: sum"},
	{"planned analysis", "registry", "kind: correlation", "kind: outliers"},
	{"misspelt analysis", "registry", "kind: correlation", "kind: corelation"},
	{"unknown intervals", "registry", "kind: correlation", "kind: correlation, intervals: both"},
	{"unknown analysis", "registry", "kind: correlation", "kind: astrology"},

	// Consistency: parties and times.
	{"one party", "registry", "  - {name: south, id: " + southID + "}\n  - {name: west, id: 12D3KooWRndVhVZPCiQwHBBBdg769GyrPUW13zxwqQyf9r3ANaba}\n", ""},
	{"two parties of one name", "registry", "name: south, id", "name: north, id"},
	{"two parties of one id", "registry", southID, northID},
	{"aggregator as party", "registry", southID, aggregatorID},
	{"sketches removed while they are needed", "registry", "sum: plain", "keep_until: 2026-12-15T17:00:00Z"},
	{"a purpose that says nothing", "registry", "sum: plain", "purpose: \"\""},
	{"a purpose that acts on a terminal", "registry", "sum: plain", "purpose: \"a \\x1b[2J\""},
	{"a purpose in two directions", "registry", "sum: plain", "purpose: \"a \\u202e b\""},
	{"recipients who are nobody", "registry", "sum: plain", "recipients: []"},
	{"late parties before the deadline", "registry", "sum: plain", "late_until: 2026-12-15T17:00:00Z"},
	{"no attempts", "registry", "max_attempts: 1", "max_attempts: 0"},
	{"too many attempts", "registry", "max_attempts: 1", "max_attempts: 11"},
	{"quorum of one", "registry", "sum: plain", "quorum: 1"},
	{"quorum above the parties", "registry", "sum: plain", "quorum: 4"},
	{"deadline before approval closes", "registry", "deadline: 2026-12-15T17:00:00Z", "deadline: 2026-12-01T17:00:00Z"},

	// Records and columns.
	{"no id column", "registry", "id: [patient]", "id: []"},
	{"id column twice", "registry", "id: [patient]", "id: [patient, patient]"},
	{"normalization twice", "registry", "[nfc, trim, casefold]", "[nfc, trim, nfc]"},
	{"skip under unit attribute", "hospitals", "missing: refuse", "missing: skip"},
	{"column twice", "registry", "name: income", "name: age"},
	{"owner unknown", "registry", "bounds: [0, 250000], owner: north", "bounds: [0, 250000], owner: nort"},
	{"owner missing", "registry", ", bounds: [0, 250000], owner: north", ", bounds: [0, 250000]"},
	{"owner in a horizontal study", "hospitals", "bounds: [6.981, 28.11]", "bounds: [6.981, 28.11], owner: Charité"},
	{"party without a column", "registry", "source: health survey 2019, owner: west", "owner: south"},
	{"no bounds", "registry", ", bounds: [0, 250000]", ""},
	{"bounds and centre", "registry", "bounds: [0, 250000]", "bounds: [0, 250000], centre: 1"},
	{"centre without spread", "registry", "centre: 47, spread: 21", "centre: 47"},
	{"spread not above 0", "registry", "spread: 21", "spread: 0"},
	{"bounds in the wrong order", "registry", "[0, 250000]", "[250000, 0]"},
	{"three bounds", "registry", "[0, 250000]", "[0, 1, 250000]"},
	{"a date and a number as bounds", "registry", "[0, 250000]", "[1925-01-01, 250000]"},
	{"no such date", "registry", "[0, 250000]", "[1925-02-29, 2010-12-31]"},
	{"dates in the wrong order", "registry", "[0, 250000]", "[2010-12-31, 1925-01-01]"},
	{"dates in quotes", "registry", "[0, 250000]", "['1925-01-01', '2010-12-31']"},
	{"a transform of dates", "registry", "[0, 250000]", "[1975-01-01, 2010-12-31], transform: log"},
	{"a date as spread", "registry", "bounds: [0, 250000]", "centre: 1968-01-01, spread: 1970-01-10"},
	{"an unknown transform", "registry", "[0, 250000]", "[1, 250000], transform: logs"},
	{"a logarithm of 0", "registry", "[0, 250000]", "[0, 250000], transform: log"},
	{"a unit of log", "registry", "[0, 250000]", "[1, 250000], transform: log, unit: 10"},
	{"a unit without a transform", "registry", "[0, 250000]", "[1, 250000], unit: 10"},
	{"asinh without a unit", "registry", "[0, 250000]", "[0, 250000], transform: asinh"},
	{"asinh of unit 0", "registry", "[0, 250000]", "[0, 250000], transform: asinh, unit: 0"},
	{"a logarithm around 0", "registry", "bounds: [0, 250000]", "centre: 0, spread: 2, transform: log"},
	{"a spread that is no factor", "registry", "bounds: [0, 250000]", "centre: 30000, spread: 1, transform: log"},
	{"a transform of a binary column", "registry", "kind: binary", "kind: binary, transform: log"},
	{"bounds of a binary column", "registry", "kind: binary", "kind: binary, bounds: [0, 1]"},
	{"values of a numeric column", "registry", "bounds: [0, 250000]", "bounds: [0, 250000], values: [a, b]"},
	{"one value", "registry", "[a, b, c]", "[a]"},
	{"value twice", "registry", "[a, b, c]", "[a, b, a]"},
	{"two labels", "registry", "kind: binary, owner: south}\n  - {name: ward,", "kind: binary, role: label, owner: south}\n  - {name: ward, role: label,"},
	{"kurtosis", "registry", "spread: 21", "spread: 21, kurtosis: 0.5"},
	{"bits", "registry", "bits: auto", "bits: 15"},

	// Privacy.
	{"mechanism missing", "registry", "mechanism: gaussian, ", ""},
	{"unit missing", "registry", "unit: record, ", ""},
	{"epsilon missing", "registry", "epsilon: 1, ", ""},
	{"epsilon of zero", "registry", "epsilon: 1,", "epsilon: 0,"},
	{"epsilon too large", "registry", "epsilon: 1,", "epsilon: 1e4,"},
	{"delta missing", "registry", ", delta: 1e-6", ""},
	{"delta too large", "registry", "delta: 1e-6", "delta: 0.1"},
	{"delta for laplace", "hospitals", "epsilon: 8", "epsilon: 8, delta: 1e-6"},
	{"neighbours under unit attribute", "hospitals", "unit: attribute", "unit: attribute, neighbours: replaced"},
	{"neighbours under mechanism none", "laboratories", "mechanism: none", "mechanism: none, neighbours: zeroed"},
	{"unknown neighbours", "registry", "unit: record", "unit: record, neighbours: replace"},
	{"numbers and categories under randomised response", "registry", privacyLine, "{unit: attribute, mechanism: randomised-response, epsilon: 1}"},
	{"randomised response of records", "survey", "unit: attribute", "unit: record"},
	{"delta for randomised response", "survey", "epsilon: 1", "epsilon: 1, delta: 1e-6"},
	{"absent bits under randomised response", "survey", "missing: refuse", "missing: centre"},
	{"squares of randomised bits", "survey", "helpers: {ones: 1}", "helpers: {ones: 1, squares: true}"},
	{"bits flipped with probability 1/2", "survey", "bits: 12", "bits: 1"},
	{"epsilon for none", "laboratories", "mechanism: none", "unit: record, mechanism: none, epsilon: 1"},

	// Labels and classifiers.
	{"labels on the columns side", "registry", "clip: 0.8", "clip: 0.8, labels: randomised"},
	{"labels in other words", "hospitals", "k: 32", "k: 32, labels: raw"},
	{"labels without a label", "clinics", ", role: label", ""},
	{"labels of a numeric column", "clinics", "source: guideline 2024}\n  - {name: smoker, kind: binary}\n  - {name: ward, kind: categorical, values: [medicine, surgery, maternity], role: label}", "role: label}"},
	{"plain labels under unit record", "clinics", "labels: randomised, label_share: 0.5", "labels: plain"},
	{"randomised labels without noise", "hospitals", recordsLine + "\nprivacy: {unit: attribute, mechanism: laplace, epsilon: 8}", "  - {side: records, family: sparse, k: 2, labels: randomised}\nprivacy: {mechanism: none}"},
	{"a share for labels under unit attribute", "hospitals", "k: 32", "k: 32, labels: randomised, label_share: 1"},
	{"a share for plain labels", "hospitals", "k: 32", "k: 32, labels: plain, label_share: 1"},
	{"a share for labels out of range", "clinics", "label_share: 0.5", "label_share: 0"},
	{"a classifier without labels", "hospitals", "{kind: k-means, clusters: 2}", "{kind: svm}"},
	{"one fold", "clinics", "folds: 5", "folds: 1"},
	{"no epoch", "clinics", "folds: 5", "epochs: 0"},
	{"no cost", "clinics", "cost: 0.5", "cost: 0"},
	{"unknown loss", "clinics", "cost: 0.5", "loss: hinged"},
	{"cost of a perceptron", "clinics", "folds: 5", "cost: 5"},
	{"penalty out of range", "clinics", "ridge-classification, intervals: all", "ridge-classification, penalty: 1e9"},
	{"epochs of ridge", "clinics", "ridge-classification, intervals: all", "ridge-classification, epochs: 3"},

	// Sketches.
	{"no sketch", "registry", "\n  - " + sketchLine, " []"},
	{"k missing", "registry", "k: 1000, ", ""},
	{"k of zero", "registry", "k: 1000", "k: 0"},
	{"s does not divide k", "registry", "s: 1,", "s: 3,"},
	{"s above 8", "registry", "s: 1,", "s: 10,"},
	{"s of zero", "registry", "s: 1,", "s: 0,"},
	{"s for rademacher", "registry", "family: sparse", "family: rademacher"},
	{"identity on the columns side", "registry", "family: sparse, k: 1000, s: 1", "family: identity"},
	{"identity with another k", "hospitals", recordsLine, "  - {side: records, family: identity, k: 5}"},
	{"hadamard on the columns side", "registry", "family: sparse, k: 1000, s: 1", "family: hadamard, k: 4"},
	{"hadamard with too large a k", "hospitals", recordsLine, "  - {side: records, family: hadamard, k: 33}"},
	{"a matrix too large to hold", "hospitals", recordsLine, "  - {side: records, family: achlioptas, k: 16777216}"},
	{"hadamard without k", "hospitals", recordsLine, "  - {side: records, family: hadamard}"},
	{"s for hadamard", "hospitals", recordsLine, "  - {side: records, family: hadamard, k: 32, s: 1}"},
	{"s for achlioptas", "registry", "family: sparse", "family: achlioptas"},
	{"s for gaussian", "laboratories", "family: rademacher", "family: gaussian, s: 2"},
	{"gaussian with noise", "registry", "family: sparse, k: 1000, s: 1", "family: gaussian, k: 1000"},
	{"gaussian with noise, records side", "hospitals", recordsLine, "  - {side: records, family: gaussian, k: 32}"},
	{"share of zero", "registry", "share: 1", "share: 0"},
	{"weight of ones", "registry", "ones: 0.3", "ones: 1.5"},
	{"ones below the resolution", "registry", "ones: 0.3", "ones: 1e-9"},
	{"helpers on the records side", "hospitals", "k: 32", "k: 32, helpers: {ones: 1}"},
	{"clip missing", "registry", ", clip: 0.8", ""},
	{"clip of zero", "registry", "clip: 0.8", "clip: 0"},
	{"clip eaten by the ones", "registry", "clip: 0.8", "clip: 0.3"},
	{"clip under unit attribute", "hospitals", "k: 32", "k: 32, clip: 1"},
	{"clip without noise", "laboratories", "k: 256", "k: 256, clip: 1"},
	{"records side of a vertical study, unit record", "registry", "side: columns", "side: records"},
	{"new records in a vertical study", "laboratories", "deadline: 2026-12-15T17:00:00Z", "deadline: 2026-12-15T17:00:00Z\nnew_records_until: 2027-12-15T17:00:00Z"},
	{"new records before the last release", "hospitals", "deadline: 2026-12-15T17:00:00Z", "deadline: 2026-12-15T17:00:00Z\nnew_records_until: 2026-12-15T17:00:00Z"},
	{"rule for joining where nothing is joined", "laboratories", "missing: centre}", "missing: centre, join: any}"},
	{"rule for joining in a horizontal study", "hospitals", "missing: refuse}", "missing: refuse, join: all}"},
	{"unknown rule for joining", "laboratories", "missing: centre}", "missing: centre, join: some}"},
	{"groups of joined records", "laboratories", "analyses: [{kind: correlation}, {kind: intersection}]", "analyses: [{kind: group-distance}]"},

	// Analyses.
	{"no analysis", "registry", askedLine, "[]"},
	{"analysis twice", "registry", askedLine, "[{kind: cosine}, {kind: cosine}]"},
	{"k-means without a records side", "registry", "{kind: correlation}", "{kind: k-means, clusters: 2}"},
	{"k-means without clusters", "hospitals", ", clusters: 2", ""},
	{"one cluster", "hospitals", "clusters: 2", "clusters: 1"},
	{"no restart", "hospitals", "clusters: 2", "clusters: 2, restarts: 0"},
	{"intervals of clusters", "hospitals", "clusters: 2", "clusters: 2, intervals: all"},
	{"clusters of no number", "hospitals", "clusters: 2", "clusters: some"},
	{"too many clusters to try", "hospitals", "clusters: 2", "clusters: auto, max_clusters: 51"},
	{"clusters to try beside a number", "hospitals", "clusters: 2", "clusters: 2, max_clusters: 4"},
	{"neighbours out of range", "hospitals", "{kind: k-means, clusters: 2}", "{kind: neighbors, neighbors: 0}, {kind: outliers, neighbors: 101, top: 0}"},
	{"records that there are not yet", "hospitals", "{kind: k-means, clusters: 2}", "{kind: record-distance, of: [north/1, south/2]}"},
	{"a score that is none", "hospitals", "{kind: k-means, clusters: 2}", "{kind: outliers, score: lov}"},
	{"score of neighbours", "hospitals", "{kind: k-means, clusters: 2}", "{kind: neighbors, score: lof}"},
	{"intervals of outliers", "hospitals", "{kind: k-means, clusters: 2}", "{kind: outliers, intervals: all}"},
	{"neighbours without a records side", "registry", "{kind: correlation}", "{kind: neighbors}"},
	{"covariance without a columns side", "hospitals", "{kind: k-means, clusters: 2}", "{kind: covariance}"},
	{"group distance without a records side", "registry", "{kind: correlation}", "{kind: group-distance}"},
	{"clusters of a correlation", "registry", "{kind: correlation}", "{kind: correlation, clusters: 2}"},
	{"estimator of an intersection", "registry", "{kind: intersection}", "{kind: intersection, estimator: E1}"},
	{"regression without a target", "registry", "{kind: correlation}", "{kind: regression}"},
	{"regression of an unknown column", "registry", "{kind: correlation}", "{kind: regression, target: incone}"},
	{"regression of a categorical column", "registry", "{kind: correlation}", "{kind: regression, target: ward}"},
	{"regression on the target", "registry", "{kind: correlation}", "{kind: regression, target: age, on: [income, age]}"},
	{"regression on a column twice", "registry", "{kind: correlation}", "{kind: regression, target: age, on: [income, income]}"},
	{"regression on an unknown column", "registry", "{kind: correlation}", "{kind: regression, target: age, on: [smokr]}"},
	{"regression on nothing", "registry", "{kind: correlation}", "{kind: regression, target: age, on: []}"},
	{"negative ridge", "registry", "{kind: correlation}", "{kind: regression, target: age, ridge: -1}"},
	{"regression without ones", "laboratories", "k: 256}\nprivacy: {mechanism: none}\nanalyses: [{kind: correlation}, {kind: intersection}]", "k: 256, helpers: {ones: 0}}\nprivacy: {mechanism: none}\nanalyses: [{kind: regression, target: se area}]"},
	{"no component", "registry", "{kind: correlation}", "{kind: pca, components: 0}"},
	{"correlations that are not centred", "registry", "{kind: correlation}", "{kind: pca, scale: true, centre: false}"},
	{"ward of a distance that is not Euclidean", "registry", "{kind: correlation}", "{kind: clustering, linkage: ward, distance: absolute}"},
	{"unknown linkage", "registry", "{kind: correlation}", "{kind: clustering, linkage: wards}"},
	{"sums without a columns side", "hospitals", "{kind: k-means, clusters: 2}", "{kind: sums}"},
	{"E1 without squares", "registry", "{kind: correlation}", "{kind: correlation, estimator: E1}"},
	{"correlation without ones", "registry", "ones: 0.3", "ones: 0"},
	{"correlation without a columns side", "hospitals", "{kind: k-means, clusters: 2}", "{kind: correlation}"},
	{"intersection of a horizontal study", "hospitals", recordsLine + "\n", "  - {side: columns, family: sparse, k: 32}\nlater: [intersection]\n"},
	{"later without an answer", "laboratories", "later: [inner-product]", "later: [inner-product, k-means, inner-product]"},
}

// The sketches of the study of the infirmaries, and the terms after them.
const (
	sickTerms    = "privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}\nsum: masked\n"
	sickSketches = "  - {side: moments, clip: 2, share: 7}\n  - {side: cells, L: 2, q: 1, clip: 2, share: 3}\n" + sickTerms
)
