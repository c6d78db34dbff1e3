package config

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/schema"
)

// others are values that are neither a key's default nor in a file.
var others = map[string]string{
	"listen": "/ip4/127.0.0.1/tcp/1, /ip6/::1/tcp/1", "limits.connections": "7", "limits.connections_per_address": "6",
	"limits.calls_per_party": "5", "limits.memory_mib": "400", "analysis.memory_mib": "3", "uploads.study_mib": "11", "uploads.free_mib": "12", "http.listen": "127.0.0.1:7", "http.tokens": "always",
	"http.hosts": "a.example,b.example", "http.behind_proxy": "true", "http.connections": "2", "http.streams": "9",
	"log.level": "error", "log.format": "json", "metrics": "127.0.0.1:8",
	"approval.second": "12D3KooWBtg3aaRMjxwedh83aGiUkwSxDwUZkzuJcfaqUmo7R3pq",
}

// For every key, the environment's value wins over the file's, and its origin says so.
func TestTheEnvironmentWins(t *testing.T) {
	dir := home(t)
	selfSigned(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, certificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"network.roots": ca, "http.tls.cert": filepath.Join(dir, "cert.pem"), "http.tls.key": filepath.Join(dir, "key.pem")}
	for key, value := range others {
		values[key] = value
	}
	path := write(t, uncomment(AggregatorTemplate()))
	filesBeside(t, path)
	party := write(t, uncomment(PartyTemplate()))
	for _, program := range []struct {
		variables string
		known     []schema.Row
		read      func(string) ([]Setting, error)
		files     []string
	}{
		{partyVariables, schema.Leaves(PartyKeys()), PartySettings, []string{party, write(t, ""), write(t, "log:\nnetwork:\n")}},
		{aggregatorVariables, schema.Leaves(AggregatorKeys()), AggregatorSettings, []string{path, write(t, ""), write(t, "http:\nlog: {}\n")}},
	} {
		for _, one := range program.known {
			t.Setenv(variable(program.variables, one.Name), values[one.Name])
		}
		for _, file := range program.files {
			got, err := program.read(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range program.known {
				want := values[one.Name]
				if one.List {
					want = "[" + strings.Join(strings.FieldsFunc(want, func(r rune) bool { return r == ',' || r == ' ' }), ", ") + "]"
				}
				if s := (Setting{one.Name, want, "environment " + variable(program.variables, one.Name)}); !slices.Contains(got, s) {
					t.Errorf("%+v is not among the settings of %s: %v", s, file, got)
				}
			}
		}
	}
	a, err := LoadAggregator(path)
	if err != nil || a.Limits.Conns != 7 || len(a.Listen) != 2 || a.HTTP.Streams != 9 || !slices.Equal(a.HTTP.Hosts, []string{"a.example", "b.example"}) || a.Log.Format != LogJSON {
		t.Errorf("read %+v, %v", a, err)
	}
}

func TestVariablesAreCheckedAsKeysAre(t *testing.T) {
	home(t)
	empty := write(t, "")
	for _, c := range []struct{ name, value, want string }{
		{"AGGREGATOR_HTTP_TOKENS", "never", "reading environment variable AGGREGATOR_HTTP_TOKENS: http.tokens: unknown rule for tokens \"never\" (one of: always, unless_loopback)"},
		{"AGGREGATOR_LIMITS_CONNECTIONS", "many", `reading environment variable AGGREGATOR_LIMITS_CONNECTIONS: limits.connections: want a whole number, have the bare word "many"`},
		{"AGGREGATOR_LISTEN", "/ip4/0.0.0.0/tcp/1,7424", `reading environment variable AGGREGATOR_LISTEN: listen[1]: listen address "7424"`},
		{"AGGREGATOR_HTTP_LISTEN", "0.0.0.0:80", "say under which names readers reach it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			if _, err := LoadAggregator(empty); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error that says %q", err, c.want)
			}
		})
	}
	t.Setenv("AGGREGATOR_LOG_LEVEL", "debug")
	if _, err := LoadAggregator(write(t, "log: loud\n")); err == nil || !strings.Contains(err.Error(), "reading environment variable AGGREGATOR_LOG_LEVEL: in ") {
		t.Errorf("a variable within no mapping: %v", err)
	}
}

// A misspelt variable has no effect, which is reported; those of other programs are ignored.
func TestMisspeltVariables(t *testing.T) {
	t.Setenv("AGGREGATOR_HTTP_TOKEN", "always")
	t.Setenv("AGGREGATOR_PORT_7424_TCP_ADDR", "10.0.0.1")
	t.Setenv("AGGREGATOR_FORMAT", "json")
	t.Setenv("PARTY_METRIC", "off")
	t.Setenv("AGGREGATOR_STAET", "/srv/agg")
	if got := MisspeltForAggregator([]string{"AGGREGATOR_STATE", "AGGREGATOR_FORMAT"}); !slices.Equal(got, []string{"environment variable AGGREGATOR_HTTP_TOKEN is no setting (did you mean AGGREGATOR_HTTP_TOKENS?)", "environment variable AGGREGATOR_STAET is no setting (did you mean AGGREGATOR_STATE?)"}) {
		t.Errorf("got %q", got)
	}
	if got := MisspeltForParty(nil); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// A secret in the file is refused, and not repeated in the error.
func TestSecretsInTheFileAreNotRepeated(t *testing.T) {
	home(t)
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("hunter2")}))
	inline := strings.ReplaceAll(strings.TrimSpace(secret), "\n", "\\n")
	for _, text := range []string{
		`http: {tls: {cert: cert.pem, key: "` + inline + `"}}`,
		`http: {tls: {cert: "` + inline + `", key: key.pem}}`,
	} {
		if _, err := LoadAggregator(write(t, text)); err == nil || strings.Contains(err.Error(), "aHVudGVy") || !strings.Contains(err.Error(), "are the paths of files") {
			t.Errorf("%v", err)
		}
	}
	for _, dsn := range []string{"postgres://me:hunter2@h/db", "host=h password=hunter2"} {
		for key, want := range map[string]string{"dsn_env": "is the name of an environment variable", "dsn_file": "is the path of a file"} {
			_, err := LoadParty(write(t, "datasets: {a: {sql: {driver: postgres, query: SELECT 1, "+key+": '"+dsn+"'}}}"))
			if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "is a secret and not for this file") {
				t.Errorf("%s %s: %v", key, dsn, err)
			}
		}
	}
}
