package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// TestSiteFile reads the site file with the party's own parser.
func TestSiteFile(t *testing.T) {
	registry := scenario.Scenario{Dataset: "registry", Unit: dp.Record, Cap: 1, Delta: 1e-6}
	bare := scenario.Scenario{Dataset: "open", AcceptReconstruction: true}
	id := func(digit string) protocol.StudyID {
		parsed, err := protocol.ParseStudyID(strings.Repeat(digit, 64))
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	var s site
	s.add(registry, id("1").String())
	s.add(bare, id("2").String())
	s.add(registry, id("3").String())
	path := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(path, s.yaml(), 0o600); err != nil {
		t.Fatal(err)
	}
	parsed, err := config.LoadParty(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.yaml())
	}
	if len(parsed.Datasets) != 2 || len(parsed.Studies) != 3 {
		t.Errorf("%d datasets and %d studies, want 2 and 3", len(parsed.Datasets), len(parsed.Studies))
	}
	if got, want := parsed.Datasets["registry"].Caps.Record, (config.Budget{Epsilon: 1, Delta: 1e-6}); got != want {
		t.Errorf("cap %+v, want %+v", got, want)
	}
	if why := parsed.Datasets["open"].ApartFrom; len(why) != 1 || why["registry"] != madeUp {
		t.Errorf("the open data are apart from %v, want from the registry", why)
	}
	if parsed.Studies[id("1")].AcceptReconstruction || !parsed.Studies[id("2")].AcceptReconstruction {
		t.Error("the stewards' answers are mixed up")
	}
	if got, want := parsed.Datasets["open"].Source.String(), filepath.Join(filepath.Dir(path), "open.csv"); got != want {
		t.Errorf("source %s, want %s", got, want)
	}
}
