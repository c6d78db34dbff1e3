package docs_test

import (
	"crypto/hpke"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/node/config"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// example returns the YAML block of a document: a study file in study.md, a site file in
// steward.md.
func example(t *testing.T, document string) string {
	t.Helper()
	blocks := blocksOf(t, document, "yaml")
	if len(blocks) != 1 {
		t.Fatalf("%d YAML blocks in %s, want one", len(blocks), document)
	}
	return blocks[0]
}

func TestExampleStudyParses(t *testing.T) {
	source := strings.NewReplacer(
		"AGGREGATOR_ID", "12D3KooWCmBiXQRKqTPiQFZ7YKCxvewPEqWaUyGgemowB5mpeUBC",
		"AGGREGATOR_HPKE", hpkeKey(t),
		"NORTH_ID", "12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5",
		"SOUTH_ID", "12D3KooWJWoaqZhDaoEFshF7Rh1bpY9ohihFhzcW6d69Lr2NASuq",
	).Replace(example(t, "study.md"))
	if _, err := studyfile.Parse([]byte(source)); err != nil {
		t.Error(err)
	}
}

func TestExampleSiteFileParses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "party.yaml")
	if err := os.WriteFile(path, []byte(example(t, "steward.md")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.LoadParty(path); err != nil {
		t.Error(err)
	}
}

// oneKey is a public key for studies that are only parsed.
var oneKey = sync.OnceValues(hpke.MLKEM768X25519().GenerateKey)

func hpkeKey(t *testing.T) string {
	t.Helper()
	key, err := oneKey()
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(key.PublicKey().Bytes())
}

// head is the beginning of study files for testing pieces.
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

// wide is a study file that accepts the pieces of study.md.
const wide = head + `partition: horizontal
records: {id: [patient]}
columns:
  - {name: a, kind: numeric, bounds: [0, 1]}
  - {name: b, kind: numeric, bounds: [0, 1]}
  - {name: c, kind: numeric, bounds: [0, 1]}
  - {name: d, kind: numeric, bounds: [0, 1]}
  - {name: e, kind: numeric, bounds: [0, 1]}
sketches: [{side: moments, clip: 1.5}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: correlation}]
`

// keyed splits YAML into its top-level keys with their content.
func keyed(text string) (keys []string, parts map[string]string) {
	parts = map[string]string{}
	for line := range strings.Lines(text) {
		if key, _, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, " ") {
			keys = append(keys, key)
		}
		parts[keys[len(keys)-1]] += line
	}
	return keys, parts
}

// Pieces of study files in study.md parse within a study.
func TestPiecesOfStudiesParse(t *testing.T) {
	text, err := os.ReadFile("study.md")
	if err != nil {
		t.Fatal(err)
	}
	pieces := 0
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 0 || !strings.HasPrefix(block, "\n") { // text between blocks, or a block of another kind
			continue
		}
		pieces++
		piece := strings.TrimPrefix(block, "\n")
		keys, parts := keyed(wide)
		more, own := keyed(piece)
		if more[0] == "addrs" {
			piece = strings.ReplaceAll(strings.ReplaceAll(piece, "\n  -", "\n    -"), "addrs:", "  addrs:")
			parts["aggregator"] = "aggregator:\n  id: 12D3KooWCmBiXQRKqTPiQFZ7YKCxvewPEqWaUyGgemowB5mpeUBC\n  hpke: HPKE\n" + piece
			more = nil
		}
		for _, key := range more {
			if _, there := parts[key]; !there {
				keys = append(keys, key)
			}
			parts[key] = own[key]
		}
		var source strings.Builder
		for _, key := range keys {
			source.WriteString(parts[key])
		}
		if _, err := studyfile.Parse([]byte(strings.Replace(source.String(), "HPKE", hpkeKey(t), 1))); err != nil {
			t.Errorf("study.md shows\n%s\n%v", piece, err)
		}
	}
	if pieces < 3 {
		t.Errorf("%d pieces found", pieces)
	}
}

// Pieces of configuration files in api.md parse.
func TestPiecesOfConfigurationParse(t *testing.T) {
	text, err := os.ReadFile("api.md")
	if err != nil {
		t.Fatal(err)
	}
	pieces := 0
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		body, _, _ := strings.Cut(block, "```")
		if !strings.HasPrefix(body, "http:") { // configuration of another program
			continue
		}
		pieces++
		path := filepath.Join(t.TempDir(), "aggregator.yaml")
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.LoadAggregator(path); err != nil {
			t.Errorf("api.md shows\n%s\n%v", body, err)
		}
	}
	if pieces < 2 {
		t.Errorf("%d pieces found", pieces)
	}
}
