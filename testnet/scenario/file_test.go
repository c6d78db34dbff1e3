package scenario

import (
	"crypto/ed25519"
	"crypto/hpke"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// terms makes up keys; they sign nothing.
func terms(t *testing.T) Terms {
	t.Helper()
	id := func(fill byte) string {
		seed := make([]byte, ed25519.SeedSize)
		seed[0] = fill
		peer, err := protocol.PeerIDFromKey(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		return peer.String()
	}
	key, err := hpke.MLKEM768X25519().GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return Terms{
		Nonce:     [16]byte{1, 2, 3},
		HPKE:      base64.StdEncoding.EncodeToString(key.PublicKey().Bytes()),
		Aggregate: id(9),
		Address:   "/ip4/127.0.0.1/tcp/7424",
		Parties:   [Parties]string{id(1), id(2), id(3)},
		Now:       time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Lifetime:  time.Hour,
	}
}

// TestStudyFilesSayWhatScenariosMean parses each file with the nodes' own parser.
func TestStudyFilesSayWhatScenariosMean(t *testing.T) {
	for _, s := range small(t, 1) {
		file, err := s.StudyFile(terms(t))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := study.Parse(file)
		if err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, file)
			continue
		}
		if parsed.Name != s.Name || parsed.Partition != s.Partition || len(parsed.Columns) != len(s.Columns) {
			t.Errorf("%s reads as %q, %s, %d columns", s.Name, parsed.Name, parsed.Partition, len(parsed.Columns))
		}
		sketch := parsed.Sketches[len(parsed.Sketches)-1]
		if len(s.Sketches) > 0 { // says what the scenario's own fields do not
			sketch.Clip = s.Clip
		}
		if sketch.Side != s.Side || sketch.Projection != s.Projection || sketch.Helpers.Ones != s.Ones || sketch.Clip != s.Clip {
			t.Errorf("%s: sketch %+v", s.Name, sketch)
		}
		if p := parsed.Privacy; p.Mechanism != s.Mechanism || p.Epsilon != dp.Epsilon(s.Epsilon) || p.Delta != dp.Delta(s.Delta) || s.Epsilon > 0 && p.Unit != s.Unit {
			t.Errorf("%s: privacy %+v", s.Name, p)
		}
		for i, analysis := range parsed.Analyses {
			if asked := s.Analyses[i]; analysis.Kind != asked.Kind || analysis.Options != asked.Options {
				t.Errorf("%s: analysis %+v, want %+v", s.Name, analysis, asked)
			}
		}
		if got, want := parsed.Deadline.String(), "2026-03-01T13:00:00Z"; got != want {
			t.Errorf("%s: deadline %s, want %s", s.Name, got, want)
		}
	}
}

func TestNamesAreThoseOfTheScenarios(t *testing.T) {
	var names []string
	for _, s := range small(t, 1) {
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, " "), strings.Join(Names(), " "); got != want {
		t.Errorf("scenarios %s, names %s", got, want)
	}
}

func TestDecimal(t *testing.T) {
	for x, want := range map[float64]string{1e-6: "1e-06", 1e21: "1e21", 0.8: "0.8", -3: "-3"} {
		if got := Decimal(x); got != want {
			t.Errorf("Decimal(%v) = %s, want %s", x, got, want)
		}
	}
}
