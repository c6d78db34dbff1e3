package networks

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"encoding/base64"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// terms makes up keys, which are not used to sign.
func terms(t *testing.T, parties []string) Terms {
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
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	out := Terms{
		Nonce: [16]byte{1}, ID: id(200), HPKE: base64.StdEncoding.EncodeToString(key.PublicKey().Bytes()), Address: "/ip4/127.0.0.1/tcp/7424",
		Parties: map[string]string{}, Expires: now.Add(time.Minute), Deadline: now.Add(2 * time.Minute),
	}
	for i, name := range parties {
		out.Parties[name] = id(byte(i + 1))
	}
	return out
}

func parsed(t *testing.T, template Template) *study.Study {
	t.Helper()
	file, err := template.Study(terms(t, template.Parties))
	if err != nil {
		t.Fatal(err)
	}
	s, err := studyfile.Parse(file)
	if err != nil {
		t.Fatalf("%s: %v", template.Name, err)
	}
	return s
}

// TestTemplates reads every file with the nodes' own parser, and compares it with its name.
func TestTemplates(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	private := map[string]int{}
	for _, template := range all {
		s := parsed(t, template)
		if s.Name != template.Name || !strings.HasPrefix(template.Name, template.Data+"-") {
			t.Errorf("%s: the study is called %q, the data %q", template.Name, s.Name, template.Data)
		}
		if template.Title == "" || template.Question == "" || strings.Contains(template.Question, "\n\n") {
			t.Errorf("%s: title %q, question %q", template.Name, template.Title, template.Question)
		}
		if open := s.Privacy.Mechanism == "none"; open != strings.HasSuffix(template.Name, "-open") {
			t.Errorf("%s has the mechanism %s", template.Name, s.Privacy.Mechanism)
		} else if !open {
			private[template.Data]++
			if !strings.HasSuffix(strings.ReplaceAll(template.Name, "-value", "-attribute"), "-"+string(s.Privacy.Unit)) {
				t.Errorf("%s protects a whole %s", template.Name, s.Privacy.Unit)
			}
		}
		discrete := slices.ContainsFunc(s.Columns, func(c study.Column) bool { return c.Kind != study.Numeric })
		if s.Privacy.Mechanism == "none" && discrete && !template.AcceptReconstruction {
			t.Errorf("%s: no party releases what is not numeric without noise, unless its steward accepts that", template.Name)
		}
		if len(template.Parties) > 2 && s.Quorum == len(s.Parties) {
			t.Errorf("%s: one party that is lost ends the study", template.Name)
		}
	}
	for _, set := range []string{Embedded, "heart", "diabetes130", "adult"} {
		if private[set] == 0 {
			t.Errorf("no study with a promise on %s", set)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]int{"heart": 3, "heart-open": 1, "diabetes130": 4, "adult": 4, "cancer": 3, "laboratories": 1, "hospitals": 4} {
		if found, err := Find(name); err != nil || len(found) != want {
			t.Errorf("%s: %d networks, %v", name, len(found), err)
		}
	}
	if _, err := Find("hearts"); err == nil || !strings.Contains(err.Error(), "did you mean heart?") {
		t.Errorf("a misspelt name: %v", err)
	}
	if _, err := Find("x"); err == nil || !strings.Contains(err.Error(), "heart-open") {
		t.Errorf("another name: %v", err)
	}
}

func TestTermsMayNotLack(t *testing.T) {
	found, err := Find("heart-open")
	if err != nil {
		t.Fatal(err)
	}
	lacking := terms(t, found[0].Parties[:3])
	if _, err := found[0].Study(lacking); err == nil || !strings.Contains(err.Error(), "VA_ID") {
		t.Errorf("without a party's id: %v", err)
	}
}

// TestDemo reads the studies of the demonstration with the nodes' own parser. Their data need no
// folder, and in studies without noise no value is moved to a bound.
func TestDemo(t *testing.T) {
	all, err := Demo()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, template := range all {
		names = append(names, template.Name)
		s := parsed(t, template)
		if s.Name != template.Name || template.Title == "" || template.Question == "" {
			t.Errorf("%s: the study is called %q, title %q, question %q", template.Name, s.Name, template.Title, template.Question)
		}
		pooled, err := Load(template.Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Analyses {
			if limit := template.Limits[a.Kind]; (limit > 0) == (a.Kind == study.KMeans) {
				t.Errorf("%s: %s has the limit %v", template.Name, a.Kind, limit)
			}
		}
		if s.Privacy.Mechanism != "none" {
			continue
		}
		for _, c := range s.Columns {
			cells, err := pooled.Numbers(c.Name)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range cells {
				if _, clamped := c.Scale.Encode(x, s.Bits); clamped {
					t.Errorf("%s: %s of record %d is moved to a bound", template.Name, c.Name, i+1)
				}
			}
		}
	}
	if !slices.Equal(names, DemoNames()) {
		t.Errorf("the studies are %v, want %v", names, DemoNames())
	}
}

// TestRegistryFollowsTheData compares the correlations of the drawn records with those of the
// patients. An entry has a standard error of at most 1/√200000 = .0022. The tolerance .014 is 6.3
// of these, so the false-rejection rate of 15 entries together is below 1e-8 (and the seed is
// fixed).
func TestRegistryFollowsTheData(t *testing.T) {
	drawn, err := Load("registry", nil)
	if err != nil {
		t.Fatal(err)
	}
	patients, err := Load(Embedded, nil)
	if err != nil {
		t.Fatal(err)
	}
	correlation := func(of corpus.Table, a, b string) float64 {
		x, err := of.Numbers(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := of.Numbers(b)
		if err != nil {
			t.Fatal(err)
		}
		return stat.Correlation(x, y, nil)
	}
	for i, a := range drawn.Names[1:] {
		for _, b := range drawn.Names[1 : 1+i] {
			if got, want := correlation(drawn, a, b), correlation(patients, a, b); math.Abs(got-want) > 0.014 {
				t.Errorf("%s with %s: correlation %.3f, want %.3f", a, b, got, want)
			}
		}
	}
}

// TestDealt deals every data set, and reads what parties would find in their files.
func TestDealt(t *testing.T) {
	var folder *corpus.Corpus
	if c, err := corpus.Open("", os.Getenv); err == nil {
		folder = &c
	} else if !errors.Is(err, corpus.ErrNone) {
		t.Fatal(err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	demo, err := Demo()
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, demo...)
	loaded := map[string]corpus.Table{}
	for _, template := range all {
		t.Run(template.Name, func(t *testing.T) {
			pooled, ok := loaded[template.Data]
			err := error(nil)
			if !ok {
				pooled, err = Load(template.Data, folder)
			}
			if errors.Is(err, corpus.ErrNone) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			loaded[template.Data] = pooled
			s := parsed(t, template)
			d, err := template.Deal(s, pooled, 1)
			if err != nil {
				t.Fatal(err)
			}
			holders := make([]int, len(pooled.Rows))
			for p, part := range d.Parties {
				for _, i := range part.Rows {
					holders[i]++
				}
				var file bytes.Buffer
				if err := d.WriteCSV(p, &file); err != nil {
					t.Fatal(err)
				}
				if lines := bytes.Count(file.Bytes(), []byte("\n")); lines != len(part.Rows)+1 || len(part.Rows) < 100 {
					t.Errorf("the file of %s has %d lines for %d records", part.Name, lines, len(part.Rows))
				}
			}
			if s.Partition == study.Horizontal && (slices.Min(holders) != 1 || slices.Max(holders) != 1) {
				t.Error("a record is held by none, or by several")
			}
			again, err := template.Deal(s, pooled, 1)
			if err != nil || !slices.EqualFunc(d.Parties, again.Parties, func(a, b Part) bool { return slices.Equal(a.Rows, b.Rows) }) {
				t.Errorf("the same seed dealt otherwise: %v", err)
			}
		})
	}
}

func TestMadeColumns(t *testing.T) {
	table, err := Load(Embedded, nil)
	if err != nil {
		t.Fatal(err)
	}
	malignant, err := table.Column("malignant")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, cell := range malignant {
		if cell == "1" {
			count++
		}
	}
	if count != 212 {
		t.Errorf("%d malignant, want 212", count)
	}
	changed := with(table, "malignant", func(int) string { return "x" })
	if len(changed.Names) != len(table.Names) || changed.Rows[0][len(changed.Names)-1] != "x" || table.Rows[0][len(table.Names)-1] == "x" {
		t.Error("a replaced column is not in the place of the other, or changed the table")
	}
	if _, err := Load("heart", nil); !errors.Is(err, corpus.ErrNone) {
		t.Errorf("without a folder: %v", err)
	}
	if _, err := Load("nosuch", new(corpus.Corpus)); err == nil {
		t.Error("a data set that is none")
	}
}

func TestDecimal(t *testing.T) {
	for x, want := range map[float64]string{1e-6: "1e-06", 1e21: "1e21", 0.8: "0.8", -3: "-3"} {
		if got := Decimal(x); got != want {
			t.Errorf("Decimal(%v) = %s, want %s", x, got, want)
		}
	}
}

// TestChange replaces text that occurs once in a study, and nothing else.
func TestChange(t *testing.T) {
	found, err := Find("laboratories")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := found[0].Change("family: rademacher, k: 256", "family: sparse, k: 128, s: 1")
	if err != nil {
		t.Fatal(err)
	}
	if s := parsed(t, changed); s.Sketches[0].Projection.K != 128 || parsed(t, found[0]).Sketches[0].Projection.K != 256 {
		t.Errorf("the changed study has k = %d", s.Sketches[0].Projection.K)
	}
	for _, from := range []string{"owner: north", "no such thing"} {
		if _, err := found[0].Change(from, ""); err == nil {
			t.Errorf("%q: no error", from)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, source := range []string{"", "title: x\n", "titel: x\n---\nparties: []\n", "title: x\n---\nparties: 3\n"} {
		if _, err := Parse("x", source); err == nil || !strings.Contains(err.Error(), "the network x") {
			t.Errorf("%q: %v", source, err)
		}
	}
}
