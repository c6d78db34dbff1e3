package config

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/webhook"
	"github.com/cosketch/cosketch/protocol"
)

const testID = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// home points every default path at an empty directory and returns it.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "STATE_DIRECTORY", "CONFIGURATION_DIRECTORY"} {
		t.Setenv(name, "")
	}
	return dir
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPartyEverything(t *testing.T) {
	path := write(t, `
# studies may come before datasets
studies:
  `+testID+`:
    dataset: patients
    columns: {income: INCOME_EUR, age: "AGE, years"}
    accept_reconstruction: true
    release: ask
datasets:
  patients:
    source: data/patients.csv
    id: [patient, ward]
    caps:
      record: {epsilon: 2, delta: 1e-6}
      attribute: {epsilon: 0.5}
  other: {source: /srv/other.csv}
log: {level: warn, format: json}
`)
	got, err := LoadParty(path)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := protocol.ParseStudyID(testID)
	want := Party{
		Path: path,
		Datasets: map[string]Dataset{
			"patients": {
				Name:   "patients",
				Source: dataset.Files(filepath.Join(filepath.Dir(path), "data/patients.csv")),
				ID:     []string{"patient", "ward"},
				Caps:   Caps{Record: Budget{2, 1e-6}, Attribute: Budget{Epsilon: 0.5}},
			},
			"other": {Name: "other", Source: dataset.Files("/srv/other.csv")},
		},
		Studies: map[protocol.StudyID]StudySite{id: {
			Dataset:              "patients",
			Columns:              map[string]string{"income": "INCOME_EUR", "age": "AGE, years"},
			AcceptReconstruction: true,
			Release:              ReleaseAsk,
			where:                path + ":4",
		}},
		Log: Log{Level: slog.LevelWarn, Format: LogJSON},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	site, err := got.Study(id)
	if err != nil {
		t.Fatal(err)
	}
	headers, err := site.Headers([]string{"age", "height", "income"})
	if err != nil || !reflect.DeepEqual(headers, []string{"AGE, years", "height", "INCOME_EUR"}) {
		t.Errorf("Headers = %q, %v", headers, err)
	}
	_, err = site.Headers([]string{"age", "incom"})
	wantText := `matching columns: ` + path + `:4 maps "income", which is not a column that the study asks of this party (did you mean "incom"?)`
	if err == nil || err.Error() != wantText {
		t.Errorf("got  %v\nwant %s", err, wantText)
	}
}

func TestPartyErrors(t *testing.T) {
	home(t)
	study := "\nstudies:\n  " + testID + ":\n    "
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":       {"datasets:\n  a:\n    sorce: x.csv", `:3: datasets.a.sorce: unknown key (did you mean "source"?)`},
		"unknown top key":   {"xyzzy: 1", `:1: xyzzy: unknown key (keys here: datasets, studies, approval, network, metrics, log; if a newer program wrote the file, update this one)`},
		"secret":            {"\npassword: hunter2", `:2: password: unknown key (keys here: datasets, studies, approval, network, metrics, log; if a newer program wrote the file, update this one)`},
		"repeated key":      {"datasets:\n  a: {source: x}\n  a: {source: y}", `:3: datasets: key "a" appears twice (first on line 2)`},
		"no source":         {"datasets:\n  a: {}", `:2: datasets.a: dataset "a" has no source (add: source: PATH.csv)`},
		"database":          {"datasets:\n  a: {source: 'postgres://h/db'}", `:2: datasets.a: source "postgres://h/db" of dataset "a": only paths of files can be read (a database is named under sql)`},
		"password":          {"datasets:\n  a: {source: 'postgres://me:hunter2@h/db'}", `:2: datasets.a: source "postgres://…@h/db" of dataset "a": only paths of files can be read (a database is named under sql)`},
		"empty list":        {"datasets:\n  a: {source: []}", `:2: datasets.a.source: has 0 entries, at least 1`},
		"two sources":       {"datasets:\n  a: {source: x, sql: {driver: sqlite, database: y, query: SELECT 1}}", `:2: datasets.a: dataset "a" has both source and sql: it can have one`},
		"csv of a database": {"datasets:\n  a: {csv: {decimal: comma}, sql: {driver: sqlite, database: y, query: SELECT 1}}", `:2: datasets.a: dataset "a" has csv, which is about files, beside sql`},
		"delimiter":         {"datasets:\n  a: {source: x, csv: {delimiter: ';'}}", `:2: datasets.a.csv.delimiter: unknown delimiter ";" (one of: comma, semicolon, tab, bar)`},
		"encoding":          {"datasets:\n  a: {source: x, csv: {encoding: latin1}}", `:2: datasets.a.csv.encoding: unknown encoding "latin1" (one of: utf-8, windows-1252)`},
		"two places":        {"datasets:\n  a: {source: x, command: [y]}", `:2: datasets.a: dataset "a" has command beside source or sql: it can have one`},
		"no command":        {"datasets:\n  a: {command: []}", `:2: datasets.a.command: has 0 entries, at least 1`},
		"one mark twice":    {"datasets:\n  a: {source: x, csv: {decimal: comma, thousands: comma}}", `:2: datasets.a.csv: comma is the decimal mark and the mark between thousands: it can be one of them`},
		"list of values":    {"datasets:\n  a: {source: x, values: {smoker: [yes, no]}}", `:2: datasets.a.values.smoker: want names and values, have a list`},
		"value of values":   {"datasets:\n  a: {source: x, values: {smoker: {yes: [1]}}}", `:2: datasets.a.values.smoker.yes: want a value, have a list`},
		"csv key":           {"datasets:\n  a: {source: x, csv: {separator: comma}}", `:2: datasets.a.csv.separator: unknown key (keys here: delimiter, decimal, thousands, encoding, date; if a newer program wrote the file, update this one)`},
		"driver":            {"datasets:\n  a: {sql: {driver: mysql}}", `:2: datasets.a.sql.driver: unknown driver "mysql" (one of: sqlite, postgres)`},
		"no driver":         {"datasets:\n  a: {sql: {query: SELECT 1}}", `:2: datasets.a.sql: sql needs a driver (add: driver: sqlite, or postgres)`},
		"no query":          {"datasets:\n  a: {sql: {driver: sqlite, database: y}}", `:2: datasets.a.sql: sql needs a query (add: query: SELECT …)`},
		"sqlite dsn":        {"datasets:\n  a: {sql: {driver: sqlite, dsn_env: Y, query: SELECT 1}}", `:2: datasets.a.sql: driver sqlite wants database: PATH, and neither dsn_env nor dsn_file`},
		"postgres, no dsn":  {"datasets:\n  a: {sql: {driver: postgres, query: SELECT 1}}", `:2: datasets.a.sql: driver postgres wants dsn_env: NAME or dsn_file: PATH, one of the two: the data source name itself is a secret and not for this file`},
		"postgres, two":     {"datasets:\n  a: {sql: {driver: postgres, dsn_env: A, dsn_file: b, query: SELECT 1}}", `:2: datasets.a.sql: driver postgres wants dsn_env: NAME or dsn_file: PATH, one of the two: the data source name itself is a secret and not for this file`},
		"dsn in the file":   {"datasets:\n  a: {sql: {driver: postgres, dsn: 'password=hunter2', query: SELECT 1}}", `:2: datasets.a.sql.dsn: unknown key (keys here: driver, database, dsn_env, dsn_file, query; if a newer program wrote the file, update this one)`},
		"id not a list":     {"datasets:\n  a: {source: x, id: patient}", `:2: datasets.a.id: want a list, have the bare word "patient" (write [a, b] or one - per line)`},
		"id empty":          {"datasets:\n  a: {source: x, id: []}", `:2: datasets.a.id: has 0 entries, at least 1`},
		"cap without ε":     {"datasets:\n  a: {source: x, caps: {record: {delta: 0.1}}}", `:2: datasets.a.caps.record: a cap needs an epsilon above 0 (to allow nothing, leave all caps out)`},
		"negative ε":        {"datasets:\n  a: {source: x, caps: {record: {epsilon: -1}}}", `:2: datasets.a.caps.record: a cap needs an epsilon above 0 (to allow nothing, leave all caps out)`},
		"infinite ε":        {"datasets:\n  a: {source: x, caps: {record: {epsilon: .inf}}}", `:2: datasets.a.caps.record.epsilon: want a number, have the bare word ".inf" (write it like 12, -0.5 or 1e-6, without quotes)`},
		"huge ε":            {"datasets:\n  a: {source: x, caps: {record: {epsilon: 1e999}}}", `:2: datasets.a.caps.record.epsilon: number 1e999 is out of range`},
		"quoted ε":          {"datasets:\n  a: {source: x, caps: {record: {epsilon: '1'}}}", `:2: datasets.a.caps.record.epsilon: want a number, have the text "1" (write it like 12, -0.5 or 1e-6, without quotes)`},
		"octal ε":           {"datasets:\n  a: {source: x, caps: {record: {epsilon: 010}}}", `:2: datasets.a.caps.record.epsilon: want a number, have the bare word "010" (write it like 12, -0.5 or 1e-6, without quotes)`},
		"δ of 1":            {"datasets:\n  a: {source: x, caps: {record: {epsilon: 1, delta: 1}}}", `:2: datasets.a.caps.record: delta 1: must be at least 0 and below 1`},
		"short study id":    {"studies: {abc: {dataset: a}}", `:1: studies.abc: parsing study id "abc": want 64 hexadecimal digits`},
		"no dataset":        {study + "columns: {}", `:3: studies.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef: study 01234567 has no dataset (add: dataset: NAME)`},
		"unknown dataset":   {"datasets: {patients: {source: x}}" + study + "dataset: patient", `:3: studies.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef: study 01234567 names dataset "patient", which is not under datasets (did you mean "patients"?)`},
		"study twice":       {"datasets: {a: {source: x}}" + study + "dataset: a\n  " + strings.ToUpper(testID) + ":\n    dataset: a", `:5: studies.0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF: study 01234567 is listed twice`},
		"release word":      {study + "release: later", `:4: studies.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.release: unknown way to release "later" (one of: auto, ask)`},
		"boolean word":      {study + "accept_reconstruction: yes", `:4: studies.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.accept_reconstruction: want true or false, have the bare word "yes"`},
		"welcome a word":    {study + "welcome: everybody", `:4: studies.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.welcome: want auto, ask, or a list of the parties that are welcome late, not "everybody"`},
		"column to nothing": {study + "columns: {age: }", `:4: studies.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.columns.age: want a text, have nothing`},
		"anchor":            {"datasets:\n  a: &x {source: x}\n  b: *x", `:2: datasets.a: anchor &x: anchors are not used (remove it)`},
		"merge key":         {"datasets:\n  <<: {a: {source: x}}", `:2: datasets: merge key <<: merge keys are not used (write the keys out)`},
		"tag":               {"log: !!map {}", `:1: log: tag !!map: tags are not used (remove it; quotes make a text of any word)`},
		"second document":   {"log:\n---\nlog:\n", `:2: a second document begins here (write all into one)`},
		"not a mapping":     {"- a", `:1: want keys and values, have a list (keys here: datasets, studies, approval, network, metrics, log)`},
		"syntax":            {"a: [1, 2\nb: 3\n", `:2: not YAML: did not find expected ',' or ']' while parsing a flow sequence`},
		"tab":               {"log:\n\tlevel: info\n", `:2: not YAML: found character that cannot start any token while scanning for the next token`},
		"level":             {"log: {level: loud}", `:1: log.level: unknown level "loud" (one of: debug, info, warn, error)`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.text)
			_, err := LoadParty(path)
			if want := "reading site file " + path + c.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestSources(t *testing.T) {
	path := write(t, `
datasets:
  visits:
    source: [2024/*.csv.gz, /srv/late.parquet]
    csv: {delimiter: semicolon, decimal: comma, thousands: point, encoding: windows-1252, date: DD.MM.YYYY}
    sheet: Tabelle 2
    missing: [k.A., "999"]
    values: {smoker: {yes: 1, no: 0, "?": }, ward: {N: north}}
  register:
    sql: {driver: postgres, dsn_env: REGISTER_DSN, query: "SELECT * FROM register"}
  file: {sql: {driver: postgres, dsn_file: dsn, query: SELECT 1}}
  lite: {sql: {driver: sqlite, database: a.db, query: SELECT 1}}
  printed: {command: [duckdb, -csv, a.db, SELECT 1]}
`)
	got, err := LoadParty(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	for name, want := range map[string]dataset.Source{
		"visits": {
			Files: []string{filepath.Join(dir, "2024/*.csv.gz"), "/srv/late.parquet"},
			CSV:   dataset.Dialect{Delimiter: dataset.Semicolon, Decimal: dataset.DecimalComma, Thousands: dataset.ThousandsPoint, Encoding: dataset.Windows1252, Date: dataset.DateDots},
			Sheet: "Tabelle 2",
			Words: dataset.Replacements{Missing: []string{"k.A.", "999"}, Values: map[string]map[string]string{"smoker": {"yes": "1", "no": "0", "?": ""}, "ward": {"N": "north"}}},
		},
		"register": {SQL: &dataset.SQL{Driver: dataset.PostgreSQL, DSN: dataset.Secret{Env: "REGISTER_DSN"}, Query: "SELECT * FROM register"}},
		"file":     {SQL: &dataset.SQL{Driver: dataset.PostgreSQL, DSN: dataset.Secret{File: filepath.Join(dir, "dsn")}, Query: "SELECT 1"}},
		"printed":  {Command: &dataset.Command{Args: []string{"duckdb", "-csv", "a.db", "SELECT 1"}, Dir: dir}},
		"lite":     {SQL: &dataset.SQL{Driver: dataset.SQLite, Database: filepath.Join(dir, "a.db"), Query: "SELECT 1"}},
	} {
		if !reflect.DeepEqual(got.Datasets[name].Source, want) {
			t.Errorf("%s: got %+v, want %+v", name, got.Datasets[name].Source, want)
		}
	}
}

func TestStudyNotListed(t *testing.T) {
	id, _ := protocol.ParseStudyID(testID)
	for text, command := range map[string]string{
		"": "party data add NAME FILE --study 01234567",
		"datasets: {patients: {source: x.csv}}\n":                     "party data use patients 01234567",
		"datasets: {patients: {source: x.csv}, a: {source: y.csv}}\n": "party data use NAME 01234567, where NAME is one of a, patients",
	} {
		p, err := LoadParty(write(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Study(id); err == nil || !strings.HasSuffix(err.Error(), "("+command+")") {
			t.Errorf("%q: got %v, want %s", text, err, command)
		}
	}
}

func TestAbsentFile(t *testing.T) {
	home(t)
	paths, err := DefaultPartyPaths()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", paths.Config} {
		if p, err := LoadParty(path); err != nil || p.Path != paths.Config || len(p.Datasets) != 0 {
			t.Errorf("LoadParty(%q) = %+v, %v", path, p, err)
		}
		if a, err := LoadAggregator(""); err != nil || !reflect.DeepEqual(a.Listen, DefaultListen()) {
			t.Errorf("LoadAggregator = %+v, %v", a, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "site.yaml")
	if _, err := LoadParty(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was asked for by name: %v", err)
	}
	if _, err := LoadAggregator(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was asked for by name: %v", err)
	}
}

func TestAggregator(t *testing.T) {
	home(t)
	a, err := LoadAggregator(write(t, "listen: [/ip4/127.0.0.1/tcp/0, /ip4/127.0.0.1/tcp/8080/ws]\nlog: {level: debug}\n"))
	if err != nil || len(a.Listen) != 2 || a.Log.Level != slog.LevelDebug || a.Log.Format != LogAuto {
		t.Errorf("%+v, %v", a, err)
	}
	for text, want := range map[string]string{
		"listen: [0.0.0.0:7424]": `:1: listen[0]: listen address "0.0.0.0:7424": want a multiaddr like /ip4/0.0.0.0/tcp/7424`,
		"listen: [/ip4/0.0.0.0/tcp/1/p2p/12D3KooWPZ7yEZaBZ5cEhQYjbEqNsmjRjiJzpzjtnEnuh9sQJpNg]": `leave out /p2p/`,
		"datasets: {}": `it is a party's site file, which party --config names`,
		"data: {}":     `:1: data: unknown key (keys here: listen, limits, analysis, uploads, http, webhooks, log; `,
	} {
		if _, err := LoadAggregator(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, listen := range DefaultListen() {
		if wrong := checkListen(listen); wrong != "" {
			t.Errorf("default %s: %s", listen, wrong)
		}
	}
}

// filesBeside writes the files to which an aggregator's template refers.
func filesBeside(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Dir(path)
	selfSigned(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err := os.WriteFile(filepath.Join(dir, "portal.secret"), []byte(webhook.NewSecret()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// uncomment turns the examples of a template into settings.
func uncomment(template string) string {
	return regexp.MustCompile(`(?m)^#(\s*[\w-]+:)`).ReplaceAllStringFunc(template, func(line string) string {
		if strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "#  ") {
			return line // prose
		}
		return line[1:]
	})
}

func TestTemplates(t *testing.T) {
	home(t)
	if !strings.Contains(PartyTemplate(), "level: info                   # debug, info, warn, error\n") {
		t.Error("the drafted site file does not say which levels there are")
	}
	p, err := LoadParty(write(t, PartyTemplate()))
	if err != nil || len(p.Datasets)+len(p.Studies) != 0 {
		t.Errorf("party template: %+v, %v", p, err)
	}
	a, err := LoadAggregator(write(t, AggregatorTemplate()))
	if err != nil || !reflect.DeepEqual(a.Listen, DefaultListen()) {
		t.Errorf("aggregator template: %+v, %v", a, err)
	}

	// The examples must be valid too.
	path := write(t, uncomment(PartyTemplate()))
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "proxy-ca.pem"), certificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err = LoadParty(path)
	if err != nil || p.Network.Roots == nil || len(p.Datasets) != 4 || len(p.Studies) != 1 || p.Log.Format != LogText {
		t.Errorf("party template, uncommented: %+v, %v", p, err)
	}
	if caps := p.Datasets["patients"].Caps; caps != (Caps{Budget{2, 1e-6}, Budget{1, 0}}) {
		t.Errorf("caps of the template's example: %+v", caps)
	}
	path = write(t, uncomment(AggregatorTemplate()))
	filesBeside(t, path)
	a, err = LoadAggregator(path)
	if err == nil && a.HTTP.TLS == nil {
		t.Error("the aggregator template's certificate was not read")
	}
	a.HTTP.TLS = nil
	if hooks := a.Webhooks; len(hooks) != 1 || hooks[0].Name != "portal" || hooks[0].Secret == nil || len(hooks[0].Moves) != 4 {
		t.Errorf("webhooks of the template's example: %+v", hooks)
	}
	limits := p2p.Limits{Conns: 1024, ConnsPerIP: 256, CallsPerPeer: 32, Memory: 512 << 20}
	if err != nil || !reflect.DeepEqual(a.Listen, DefaultListen()) || a.Log.Format != LogText || !reflect.DeepEqual(a.Limits, limits) || !reflect.DeepEqual(a.HTTP, HTTP{Hosts: []string{"cosketch.example.org"}, Connections: 256, Streams: 64}) {
		t.Errorf("aggregator template, uncommented: %+v, %v", a, err)
	}
}

func TestDefaultPaths(t *testing.T) {
	dir := home(t)
	check := func(state, config string) {
		t.Helper()
		got, err := DefaultPartyPaths()
		if want := (Paths{state, config}); err != nil || got != want {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	check(dir+"/.local/state/cosketch/party", dir+"/.config/cosketch/party.yaml")
	t.Setenv("XDG_STATE_HOME", "/xdg/state")
	t.Setenv("XDG_CONFIG_HOME", "relative/is/ignored")
	check("/xdg/state/cosketch/party", dir+"/.config/cosketch/party.yaml")
	t.Setenv("STATE_DIRECTORY", "/var/lib/cosketch-party:/var/lib/other")
	t.Setenv("CONFIGURATION_DIRECTORY", "/etc/cosketch")
	check("/var/lib/cosketch-party", "/etc/cosketch/party.yaml")
	got, err := DefaultAggregatorPaths()
	if err != nil || got.Config != "/etc/cosketch/aggregator.yaml" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A service may have no home: it needs none if it is told where its files are.
func TestNoHome(t *testing.T) {
	home(t)
	t.Setenv("HOME", "")
	path := write(t, "log: {level: warn}\n")
	if p, err := LoadParty(path); err != nil || p.Log.Level != slog.LevelWarn {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := AggregatorSettings(path); err != nil {
		t.Error(err)
	}
	if _, err := LoadAggregator(""); err == nil || !strings.Contains(err.Error(), "set HOME or XDG_CONFIG_HOME") && !strings.Contains(err.Error(), "set HOME or XDG_STATE_HOME") {
		t.Errorf("without a path: %v", err)
	}
}

func TestOversizedFile(t *testing.T) {
	_, err := LoadParty(write(t, "#"+strings.Repeat("x", maxBytes)))
	if err == nil || !strings.Contains(err.Error(), "is it a data file?") {
		t.Errorf("got %v", err)
	}
}

// places counts the sources of a dataset.
func places(s dataset.Source) (n int) {
	for _, is := range []bool{len(s.Files) > 0, s.SQL != nil, s.Command != nil, s.Elsewhere != ""} {
		if is {
			n++
		}
	}
	return n
}

func FuzzParty(f *testing.F) {
	f.Add(PartyTemplate())
	f.Add(uncomment(PartyTemplate()))
	f.Add("a: &x [*x]\n---\n")
	f.Add("datasets: [")
	f.Add("{? [a]: b}")
	for _, source := range []string{"source: a.csv", "sql: {driver: sqlite, database: a.db, query: select 1}", "command: [a]", "elsewhere: a",
		"command: []", "command: [a]\n    source: a.csv", "elsewhere: a\n    command: [a]", "csv: {comma: ;}"} {
		f.Add("datasets:\n  d:\n    " + source + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, _, err := partyOf("/etc/site.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "reading site file /etc/site.yaml") {
				t.Errorf("an error without its file: %v", err)
			}
			return
		}
		for id, site := range p.Studies {
			if _, known := p.Datasets[site.Dataset]; !known {
				t.Errorf("study %s has no dataset", id)
			}
		}
		for name, d := range p.Datasets {
			if n := places(d.Source); d.Name != name || n != 1 {
				t.Errorf("dataset %+v under %q is in %d places", d, name, n)
			}
			for _, file := range d.Source.Files {
				if !filepath.IsAbs(file) {
					t.Errorf("relative path in %+v", d)
				}
			}
		}
	})
}

// auto admits every late party, ask none, and a list those in it.
func TestWelcome(t *testing.T) {
	for text, want := range map[string][2]bool{ // for east and west
		"":                    {true, true},
		"welcome: auto":       {true, true},
		"welcome: ask":        {false, false},
		"welcome: [west]":     {false, true},
		"welcome: [ask]":      {false, false},
		"welcome: [east, ab]": {true, false},
	} {
		p, err := LoadParty(write(t, "datasets: {a: {source: x}}\nstudies:\n  "+testID+":\n    dataset: a\n    "+text+"\n"))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for _, site := range p.Studies {
			if got := [2]bool{site.Welcome.Admits("east"), site.Welcome.Admits("west")}; got != want {
				t.Errorf("%q admits east and west: %v, want %v", text, got, want)
			}
		}
	}
}
