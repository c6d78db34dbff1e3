package config

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

func visits() Dataset {
	return Dataset{
		Name: "visits", Source: dataset.Source{Files: []string{"/srv/a file, #1.csv"}, CSV: dataset.Dialect{Encoding: dataset.Windows1252}, Sheet: "Sheet 1"},
		ID: []string{"patient", "visit day"}, Caps: Caps{Record: Budget{2, 1e-6}, Attribute: Budget{Epsilon: 1}},
	}
}

const visitsFields = `    source: "/srv/a file, #1.csv"
    sheet: "Sheet 1"
    csv: {encoding: windows-1252}
    id: [patient, "visit day"]
    caps: {record: {epsilon: 2, delta: 1e-6}, attribute: {epsilon: 1}}
`

func TestAddDataset(t *testing.T) {
	visitsLines := "  visits:\n" + visitsFields
	deeper := "   visits:\n" + strings.ReplaceAll(" "+visitsFields, "\n  ", "\n   ")
	template := PartyTemplate()
	for name, c := range map[string]struct{ before, after string }{
		"nothing":      {"", "datasets:\n" + visitsLines},
		"a comment":    {"# mine", "# mine\ndatasets:\n" + visitsLines},
		"template":     {template, strings.Replace(template, "datasets:\n", "datasets:\n"+visitsLines, 1)},
		"no end":       {"datasets: # here", "datasets: # here\n" + visitsLines},
		"others":       {"log: {level: warn}\ndatasets:\n   # old\n   old:\n     source: x\n", "log: {level: warn}\ndatasets:\n" + deeper + "   # old\n   old:\n     source: x\n"},
		"no datasets":  {"log: {level: warn}\n", "log: {level: warn}\ndatasets:\n" + visitsLines},
		"empty braces": {"datasets: {}\n", "datasets: {visits: {" + strings.ReplaceAll(strings.TrimSpace(visitsFields), "\n    ", ", ") + "}}\n"},
		"braces":       {"datasets: {ä: {source: x}} # é\n", "datasets: {visits: {" + strings.ReplaceAll(strings.TrimSpace(visitsFields), "\n    ", ", ") + "}, ä: {source: x}} # é\n"},
		"CRLF":         {"datasets:\r\n  a: {source: x}\r\n", "datasets:\r\n" + strings.ReplaceAll(visitsLines, "\n", "\r\n") + "  a: {source: x}\r\n"},
	} {
		path := write(t, c.before)
		if _, err := AddDataset(path, visits(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, _ := os.ReadFile(path)
		if string(got) != c.after {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.after)
		}
	}
}

func TestAddDatasetWithStudy(t *testing.T) {
	id, err := protocol.ParseStudyID(testID)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, PartyTemplate())
	if _, err := AddDataset(path, visits(), &id); err != nil {
		t.Fatal(err)
	}
	p, err := LoadParty(path)
	if err != nil || p.Studies[id].Dataset != "visits" || p.Datasets["visits"].Caps != visits().Caps {
		t.Errorf("%+v, %v", p, err)
	}
	again := visits()
	again.Name = "again"
	if _, err := AddDataset(path, again, &id); err == nil || !strings.Contains(err.Error(), "has an entry") {
		t.Errorf("the study's entry was made twice: %v", err)
	}
	if _, err := AddDataset(path, visits(), nil); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("the dataset was added twice: %v", err)
	}
}

// A file that names certificates can be edited like any other.
func TestEditBesideRoots(t *testing.T) {
	path := write(t, "network: {roots: ca.pem}\n")
	ca := filepath.Join(filepath.Dir(path), "ca.pem")
	if err := os.WriteFile(ca, certificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := AddDataset(path, visits(), nil); err != nil {
		t.Error(err)
	}
}

// A file that cannot be edited stays unchanged, and the lines to write are shown.
func TestRefusedEdits(t *testing.T) {
	for _, text := range []string{"? datasets\n: ? a\n  : source: x\n", "log: {level: warn}\n...\n", "datasets: ~\n", "unknown: 1\n"} {
		path := write(t, text)
		_, err := AddDataset(path, visits(), nil)
		got, _ := os.ReadFile(path)
		if string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
		if err == nil || !strings.Contains(err.Error(), "visits:") && !strings.Contains(err.Error(), "unknown key") {
			t.Errorf("%q: %v", text, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.tmp")); len(left) > 0 {
			t.Errorf("%q: left %v", text, left)
		}
	}
	strange := visits()
	strange.Name = "a\xffb"
	if _, err := AddDataset(write(t, ""), strange, nil); err == nil {
		t.Error("a name that is not UTF-8 was written as another")
	}
}

// The file keeps its mode, and a link to it stays a link.
func TestEditKeepsTheFile(t *testing.T) {
	path := write(t, "")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, err := AddDataset(link, visits(), nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
}

func TestSetCap(t *testing.T) {
	for _, c := range []struct {
		before, after string
		unit          dp.Unit
		b             Budget
	}{
		{"datasets:\n  a: # mine\n    source: x # here\n", "datasets:\n  a: # mine\n    caps: {record: {epsilon: 2, delta: 1e-6}}\n    source: x # here\n", dp.Record, Budget{2, 1e-6}},
		{"datasets:\n  a: {source: x}\n", "datasets:\n  a: {caps: {attribute: {epsilon: 0.5}}, source: x}\n", dp.Attribute, Budget{Epsilon: 0.5}},
		{"datasets:\n  a:\n    source: x\n    caps:\n", "datasets:\n  a:\n    source: x\n    caps:\n      record: {epsilon: 2}\n", dp.Record, Budget{Epsilon: 2}},
		{"datasets:\n  a:\n    source: x\n    caps: {}\n", "datasets:\n  a:\n    source: x\n    caps: {record: {epsilon: 2}}\n", dp.Record, Budget{Epsilon: 2}},
		{"datasets:\n  a:\n    source: x\n    caps:\n     attribute: {epsilon: 1}\n", "datasets:\n  a:\n    source: x\n    caps:\n     record: {epsilon: 2}\n     attribute: {epsilon: 1}\n", dp.Record, Budget{Epsilon: 2}},
		{"datasets:\n  a:\n    source: x\n    caps: {attribute: {epsilon: 1}}\n", "datasets:\n  a:\n    source: x\n    caps: {record: {epsilon: 2}, attribute: {epsilon: 1}}\n", dp.Record, Budget{Epsilon: 2}},
		{"datasets:\n  a:\n    source: x\n    caps: {record: {epsilon: 1.25, delta: 1e-6}} # agreed\n", "datasets:\n  a:\n    source: x\n    caps: {record: {epsilon: 20, delta: 1e-7}} # agreed\n", dp.Record, Budget{20, 1e-7}},
		{"datasets:\n  a:\n    source: x\n    caps: {record: {delta: 1e-6, epsilon: 1}}\n", "datasets:\n  a:\n    source: x\n    caps: {record: {delta: 0, epsilon: 1e21}}\n", dp.Record, Budget{Epsilon: 1e21}},
		{"datasets:\n  a:\n    source: x\n    caps: {record: {epsilon: 1}}\n", "datasets:\n  a:\n    source: x\n    caps: {record: {delta: 1e-6, epsilon: 3}}\n", dp.Record, Budget{3, 1e-6}},
		{"datasets:\n  a:\n    source: x\n    caps:\n      record:\n        epsilon: 1 # low\n", "datasets:\n  a:\n    source: x\n    caps:\n      record:\n        epsilon: 3 # low\n        delta: 1e-6\n", dp.Record, Budget{3, 1e-6}},
	} {
		path := write(t, c.before)
		if err := SetCap(path, "a", c.unit, c.b); err != nil {
			t.Errorf("%s: %v", c.before, err)
			continue
		}
		if got, _ := os.ReadFile(path); string(got) != c.after {
			t.Errorf("got\n%s\nwant\n%s", got, c.after)
		}
	}
	if err := SetCap(write(t, "datasets: {patients: {source: x}}"), "patient", dp.Record, Budget{Epsilon: 1}); err == nil || !strings.Contains(err.Error(), `did you mean "patients"?`) {
		t.Errorf("got %v", err)
	}
}

// For any file, the result of an edit parses, contains what was asked for, and is the old text with
// one insertion.
func FuzzEdit(f *testing.F) {
	f.Add(PartyTemplate(), "visits", "/srv/x.csv")
	f.Add(uncomment(PartyTemplate()), "true", "a b")
	f.Add("datasets: {a: {source: x, caps: {record: {epsilon: 1}}}}", "b", "\"")
	f.Add("---\ndatasets:\n  a:\n    source: x\n    caps:\n      record:\n        epsilon: 1\n", "a", "x")
	f.Add("\ufeffdatasets:\r\n  ä: {source: |+\n\n", "#", "'")
	f.Fuzz(func(t *testing.T, text, name, file string) {
		const path = "/etc/site.yaml"
		d := Dataset{Name: name, Source: dataset.Source{Files: []string{"/srv/" + file}}, ID: []string{file + "x"}}
		if after, err := addDataset(path, text, d, nil); err == nil {
			p, _, err := partyOf(path, after)
			if err != nil || p.Datasets[name].Source.Files[0] != d.Source.Files[0] {
				t.Fatalf("%q became %q: %v", text, after, err)
			}
			if !putIn(text, after) && !putIn(text+lineEnd(text), after) {
				t.Fatalf("%q became %q, which is not it and something more", text, after)
			}
		}
		p, _, err := partyOf(path, text)
		if err != nil {
			return
		}
		for other := range p.Datasets {
			after, err := setCap(path, text, other, dp.Record, Budget{Epsilon: 3.25, Delta: 1e-9})
			if err != nil {
				continue
			}
			if q, _, err := partyOf(path, after); err != nil || q.Datasets[other].Caps.Record != (Budget{3.25, 1e-9}) || len(q.Datasets) != len(p.Datasets) {
				t.Fatalf("%q became %q: %v", text, after, err)
			}
			if strings.Count(after, "#") != strings.Count(text, "#") {
				t.Fatalf("%q became %q: a comment was lost", text, after)
			}
		}
	})
}

// putIn reports whether after is before with one insertion.
func putIn(before, after string) bool {
	same := 0
	for same < len(before) && same < len(after) && before[same] == after[same] {
		same++
	}
	return strings.HasSuffix(after, before[same:]) && len(after) >= len(before)
}

// The operator's aggregator can read what a party writes.
func TestColumnListReadsAsWritten(t *testing.T) {
	id, err := protocol.ParsePeerID("12D3KooWBtg3aaRMjxwedh83aGiUkwSxDwUZkzuJcfaqUmo7R3pq")
	if err != nil {
		t.Fatal(err)
	}
	list := ColumnList{Name: "North\n# \u2028", ID: id, Records: []string{"patient", "visit, day"}, About: 5000, Columns: []file.DraftColumn{
		{Name: "größe in \"cm\": #1", Kind: study.Numeric}, {Name: "null", Kind: study.Categorical}, {Name: "- x}", Kind: study.Binary},
	}}
	list.Path = write(t, list.Text())
	got, err := LoadColumns(list.Path)
	if err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("got %+v, %v\nof\n%s", got, err, list.Text())
	}
}
