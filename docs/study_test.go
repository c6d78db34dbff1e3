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
	"github.com/cosketch/cosketch/protocol/study"
)

// examples returns the YAML blocks of study.md.
func examples(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("study.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		body, _, _ := strings.Cut(block, "```")
		out = append(out, body)
	}
	if len(out) != 2 {
		t.Fatalf("%d YAML blocks in study.md, want a study file and a site file", len(out))
	}
	return out
}

func TestExampleStudyParses(t *testing.T) {
	source := strings.NewReplacer(
		"AGGREGATOR_ID", "12D3KooWCmBiXQRKqTPiQFZ7YKCxvewPEqWaUyGgemowB5mpeUBC",
		"AGGREGATOR_HPKE", hpkeKey(t),
		"NORTH_ID", "12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5",
		"SOUTH_ID", "12D3KooWJWoaqZhDaoEFshF7Rh1bpY9ohihFhzcW6d69Lr2NASuq",
	).Replace(examples(t)[0])
	if _, err := study.Parse([]byte(source)); err != nil {
		t.Error(err)
	}
}

func TestExampleSiteFileParses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "party.yaml")
	if err := os.WriteFile(path, []byte(examples(t)[1]), 0o600); err != nil {
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
