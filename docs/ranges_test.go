package docs_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/schema"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// What the reference says of ranges and defaults is what the parser says of studies in
// which one key was put behind an anchor.

// option is a key with a range or a default that can be tried out.
type option struct {
	path  string // as meanings has it
	base  string
	after string // the anchor
	form  string // what to write behind it, with VALUE for the value
	is    string // the default; empty where there is none, or it depends on others
}

const head = `cosketch: study/2
name: x
nonce: 5f0c1b0e7a3d4c2f9b8e6d1a2c3f4e5d
aggregator: {id: 12D3KooWCmBiXQRKqTPiQFZ7YKCxvewPEqWaUyGgemowB5mpeUBC, hpke: HPKE, addrs: [/dns4/agg.example.org/tcp/7424]}
parties:
  - {name: north, id: 12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5}
  - {name: south, id: 12D3KooWJWoaqZhDaoEFshF7Rh1bpY9ohihFhzcW6d69Lr2NASuq}
  - {name: west, id: 12D3KooWJvMgpmgDGzBXzzVmHHsrxhTr8stGFWqVBDAkYE9pf6dw}
expires: 2026-12-01T17:00:00Z
deadline: 2026-12-15T17:00:00Z
`

// Studies to try keys out in: products of columns, rows of records, sums.
const (
	ofColumns = head + `partition: vertical
records: {id: [patient]}
columns:
  - {name: age, kind: numeric, centre: 47, spread: 21, owner: north}
  - {name: income, kind: numeric, bounds: [0, 250000], owner: south}
  - {name: smoker, kind: binary, owner: west}
sketches:
  - {side: columns, family: sparse, k: 1024, clip: 0.8}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: pca}, {kind: regression, target: age}, {kind: clustering}, {kind: correlation}]
`
	ofRecords = head + `partition: horizontal
new_records_until: 2027-06-01T17:00:00Z
queries: {releases: 4}
records: {id: [patient]}
columns:
  - {name: age, kind: numeric, centre: 47, spread: 21}
  - {name: income, kind: numeric, bounds: [0, 250000]}
  - {name: smoker, kind: binary, role: label}
sketches:
  - {side: records, family: sparse, k: 64, labels: randomised}
privacy: {unit: attribute, mechanism: laplace, epsilon: 4}
analyses: [{kind: k-means, clusters: 3}, {kind: neighbors}, {kind: outliers}, {kind: perceptron}, {kind: svm}, {kind: ridge-classification}, {kind: voted-perceptron}]
`
	ofSums = head + `partition: horizontal
records: {id: [patient]}
columns:
  - {name: age, kind: numeric, centre: 47, spread: 21}
  - {name: income, kind: numeric, bounds: [0, 250000]}
sketches:
  - {side: moments, clip: 1.5}
  - {side: cells, L: 2, q: 1, clip: 1.5}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: correlation}, {kind: k-means, clusters: auto}]
`
)

var options = []option{
	{"parties.records", ofColumns, "12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5", ", records: VALUE", ""},
	{"max_attempts", ofColumns, "partition: vertical", "\nmax_attempts: VALUE", "3"},
	{"bits", ofColumns, "partition: vertical", "\nbits: VALUE", "auto"},
	{"records.normalize", ofColumns, "id: [patient]", ", normalize: VALUE", "[nfc, trim]"},
	{"records.missing", ofColumns, "id: [patient]", ", missing: VALUE", "refuse"},
	{"records.duplicates", ofColumns, "id: [patient]", ", duplicates: VALUE", "refuse"},
	{"columns.kurtosis", ofColumns, "centre: 47, spread: 21", ", kurtosis: VALUE", "3"},
	{"columns.role", ofRecords, "bounds: [0, 250000]", ", role: VALUE", "feature"},
	{"sketches.k", ofColumns, "family: sparse, k: ", "VALUE #", ""},
	{"sketches.s", ofColumns, "k: 1024", ", s: VALUE", "1"},
	{"sketches.share", ofSums, "moments, clip: 1.5", ", share: VALUE", "1"},
	{"sketches.clip", ofColumns, "clip: ", "VALUE #", ""},
	{"sketches.L", ofSums, "L: ", "VALUE #", ""},
	{"sketches.q", ofSums, "q: ", "VALUE #", ""},
	{"sketches.matrix", ofRecords, "labels: randomised", ", matrix: VALUE", "secret"},
	{"sketches.helpers.ones", ofColumns, "clip: 0.8", ", helpers: {ones: VALUE}", "0.7"},
	{"sketches.helpers.squares", ofColumns, "clip: 0.8", ", helpers: {squares: VALUE}", "false"},
	{"privacy.neighbours", ofColumns, "unit: record", ", neighbours: VALUE", "zeroed"},
	{"privacy.epsilon", ofColumns, "epsilon: ", "VALUE #", ""},
	{"privacy.delta", ofColumns, "delta: ", "VALUE #", ""},
	{"sum", ofSums, "partition: horizontal", "\nsum: VALUE", "plain"},
	{"colluding", ofSums, "partition: horizontal", "\nsum: masked\ncolluding: VALUE", ""},
	{"queries.releases", ofRecords, "releases: ", "VALUE #", ""},
	{"queries.records", ofRecords, "releases: 4", ", records: VALUE", "1000"},
	{"queries.neighbors", ofRecords, "releases: 4", ", neighbors: VALUE", "10"},
}

// limits are the ranges of numbers that depend on other keys, or that nothing bounds.
var limits = map[string]string{
	"sketches.tables.depth":    "1 to 12",
	"sketches.tables.of.bins":  "2 to 4096",
	"sketches.tables.of.edges": "increasing, between the bounds or within three spreads",
	"quorum":                   "2 to the number of parties, and more than half",
	"colluding":                "1 to the number of parties less 2",
	"columns.centre":           "in the data's unit",
	"columns.spread":           "above 0, in the data's unit; with a transform above 1",
	"columns.unit":             "above 0, in the data's unit",
	"sketches.s":               "1 to k, dividing it",
	"sketches.clip":            "one step of `bits` to 1000",
	"sketches.label_share":     "0.001 to 1000",
	"sketches.sums":            "2 to 5",
	"sketches.L":               "1 to the least power of two that holds the features, at most 12",
	"sketches.q":               "1 to the number of features",
	"queries.records":          "1 to what one message of 4 MB holds",
}

// with is the option's study with a value.
func (o option) with(t *testing.T, value string) string {
	t.Helper()
	before, after, found := strings.Cut(o.base, o.after)
	if !found {
		t.Fatalf("%s: the study has no %q", o.path, o.after)
	}
	written := strings.ReplaceAll(o.form, "VALUE", value)
	if kept, in := strings.CutSuffix(written, " #"); in { // in the place of the value that is there
		after = strings.TrimLeft(after, "0123456789.e-auto")
		written = kept
	}
	return strings.Replace(before+o.after+written+after, "HPKE", hpkeKey(t), 1)
}

var between = regexp.MustCompile(`is not between (.+?) and (.+?)(?:$|,)`)

// rangeOf is the range that the parser names when it is given too much, "" where it names none.
func (o option) rangeOf(t *testing.T) string {
	t.Helper()
	for _, value := range []string{"1000000000", "-1", "2000000", "0"} {
		_, err := studyfile.Parse([]byte(o.with(t, value)))
		var all schema.Errors
		errors.As(err, &all)
		for _, e := range all {
			key := o.path[strings.LastIndexByte(o.path, '.')+1:]
			if m := between.FindStringSubmatch(e.Message); m != nil && (e.Key == key || strings.HasSuffix(e.Key, "."+key)) {
				return m[1] + " to " + m[2]
			}
		}
	}
	return ""
}

// A key left out means the same as its default, by the hash that parties compare.
func TestDefaults(t *testing.T) {
	for _, o := range options {
		base, err := studyfile.Parse([]byte(strings.Replace(o.base, "HPKE", hpkeKey(t), 1)))
		if err != nil {
			t.Fatalf("%s: %v", o.path, err)
		}
		if o.is == "" {
			continue
		}
		s, err := studyfile.Parse([]byte(o.with(t, o.is)))
		if err != nil {
			t.Errorf("%s: %s: %v", o.path, o.is, err)
			continue
		}
		if s.Meaning != base.Meaning {
			t.Errorf("%s: %s is not what leaving it out means", o.path, o.is)
		}
		if means := meanings[o.path]; !strings.Contains(means, o.is) || !strings.Contains(means, "efault") {
			t.Errorf("meanings says of %s: %q, and not that %s is the default", o.path, means, o.is)
		}
	}
}

// What the reference calls needed is missed where it is left out.
func TestNeeded(t *testing.T) {
	left := 0
	for path, c := range map[string]struct{ base, from, to string }{
		"colluding":         {ofSums, "partition: horizontal", "partition: horizontal\nsum: masked"},
		"columns.owner":     {ofColumns, ", owner: north", ""},
		"columns.unit":      {ofColumns, "bounds: [0, 250000]", "bounds: [0, 250000], transform: asinh"},
		"columns.values":    {ofColumns, "kind: binary", "kind: categorical"},
		"sketches.k":        {ofColumns, ", k: 1024", ""},
		"sketches.clip":     {ofColumns, ", clip: 0.8", ""},
		"sketches.L":        {ofSums, "L: 2, ", ""},
		"sketches.tables":   {ofSums, "side: cells, L: 2, q: 1, clip: 1.5", "side: counts"},
		"privacy.unit":      {ofColumns, "unit: record, ", ""},
		"privacy.epsilon":   {ofColumns, ", epsilon: 1", ""},
		"privacy.delta":     {ofColumns, ", delta: 1e-6", ""},
	} {
		source := strings.Replace(strings.Replace(c.base, c.from, c.to, 1), "HPKE", hpkeKey(t), 1)
		_, err := studyfile.Parse([]byte(source))
		var all schema.Errors
		errors.As(err, &all)
		key := path[strings.LastIndexByte(path, '.')+1:]
		missed := slices.ContainsFunc(all, func(e *schema.Error) bool {
			return (e.Key == key || strings.HasSuffix(e.Key, "."+key)) && (e.Message == "is missing" || strings.HasPrefix(e.Message, "lists 0"))
		})
		if !missed {
			t.Errorf("%s is not missed: %v", path, err)
		}
		left++
		if !strings.Contains(strings.ToLower(meanings[path]), "needed") {
			t.Errorf("meanings does not say where %s is needed: %q", path, meanings[path])
		}
	}
	for path, means := range meanings {
		if strings.Contains(strings.ToLower(means), "needed") {
			left--
			if left < 0 {
				t.Errorf("%s, or another that is called needed, is not tried here", path)
			}
		}
	}
}
