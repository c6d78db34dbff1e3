package config

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestHTTP(t *testing.T) {
	home(t)
	got, err := LoadAggregator(write(t, "http:\n  listen: 127.0.0.1:7480\n  hosts: [Cosketch.Example.org, 192.0.2.1]\n  tokens: always\n  behind_proxy: true\n  streams: 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := HTTP{Listen: "127.0.0.1:7480", Hosts: []string{"cosketch.example.org", "192.0.2.1"}, BehindProxy: true, Connections: 256, Streams: 7}
	if !reflect.DeepEqual(got.HTTP, want) {
		t.Errorf("read %+v, want %+v", got.HTTP, want)
	}
	for text, want := range map[string]string{
		"":                                  "",
		"http:\n":                           "",
		"http: {listen: off}\n":             "",
		"http: {listen: localhost:80}\n":    "localhost:80",
		"http: {listen: \"[::1]:7480\"}\n":  "[::1]:7480",
		"http: {listen: 127.0.0.1:0}\n":     "127.0.0.1:0",
		"http: {tokens: unless_loopback}\n": "",
		"http: {listen: 0.0.0.0:1, hosts: [a], behind_proxy: true}\n": "0.0.0.0:1",
	} {
		if got, err := LoadAggregator(write(t, text)); err != nil || got.HTTP.Listen != want {
			t.Errorf("%q: %q %v", text, got.HTTP.Listen, err)
		}
	}
	for text, says := range map[string]string{
		"http: {listen: 7480}\n":                                                     "want HOST:PORT",
		"http: {listen: example.org:7480}\n":                                         "want an IP address before the port",
		"http: {listen: \":7480\"}\n":                                                "say under which names",
		"http: {listen: 0.0.0.0:7480, hosts: [a]}\n":                                 "travel in the clear",
		"http: {hosts: [\"https://a\"]}\n":                                           `host "https://a"`,
		"http: {tokens: never}\n":                                                    "always, unless_loopback",
		"http: {listen: 127.0.0.1:1, hosts: [a], tokens: unless_loopback}\n":         "for readers on this machine alone",
		"http: {listen: 127.0.0.1:1, behind_proxy: true, tokens: unless_loopback}\n": "for readers on this machine alone",
		"http: {listen: 0.0.0.0:1, tokens: unless_loopback}\n":                       "for readers on this machine alone",
		"http: {streams: 0}\n":                                                       "at least 1",
		"http: {tls: {cert: a.pem}}\n":                                               "want cert and key",
		"http: {tls: {cert: none.pem, key: none.pem}}\n":                             "none.pem",
		"http: {lisen: 127.0.0.1:1}\n":                                               `did you mean "listen"`,
	} {
		if _, err := LoadAggregator(write(t, text)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "site.yaml:1") {
			t.Errorf("%q: %v, want an error with its line that says %q", text, err, says)
		}
	}
}

func TestHTTPCertificate(t *testing.T) {
	home(t)
	dir := t.TempDir()
	selfSigned(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	path := filepath.Join(dir, "agg.yaml")
	if err := os.WriteFile(path, []byte("http: {listen: 0.0.0.0:1, hosts: [a.example], tls: {cert: cert.pem, key: key.pem}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := LoadAggregator(path)
	if err != nil || got.HTTP.TLS == nil || len(got.HTTP.TLS().Certificate) != 1 {
		t.Errorf("%+v %v", got.HTTP, err)
	}
	if err := os.Chmod(filepath.Join(dir, "key.pem"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadAggregator(path); !errorIsOpen(err) {
		t.Errorf("a key that all can read: %v", err)
	}
}

// errorIsOpen reports whether an error says that others can read a file, and what to do.
func errorIsOpen(err error) bool {
	if runtime.GOOS == "windows" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), "agg.yaml:1: http.tls: ") && strings.Contains(err.Error(), "key.pem has mode 0644 and is open to other users (run `chmod g-wx,o= ")
}

func TestPartyMetrics(t *testing.T) {
	home(t)
	if got, err := LoadParty(write(t, "metrics: 127.0.0.1:7481\n")); err != nil || got.Metrics != "127.0.0.1:7481" {
		t.Errorf("%q %v", got.Metrics, err)
	}
	for _, text := range []string{"metrics: 0.0.0.0:7481\n", "metrics: 192.0.2.1:1\n", "metrics: \":7481\"\n", "metrics: 7481\n", "metrics: [a]\n"} {
		if _, err := LoadParty(write(t, text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// selfSigned writes a self-signed certificate and its key.
func selfSigned(t *testing.T, cert, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"a.example"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
