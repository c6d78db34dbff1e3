package config

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// certificate returns a self-signed certificate in PEM form.
func certificate(t *testing.T) []byte {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestRootsRefusals(t *testing.T) {
	path := write(t, "network:\n  roots: ca.pem\n")
	if _, err := LoadParty(path); err == nil || !strings.Contains(err.Error(), ":2: network.roots: ") {
		t.Errorf("absent file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "ca.pem"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadParty(path); err == nil || !strings.Contains(err.Error(), `"ca.pem" holds no certificate in PEM form`) {
		t.Errorf("another file: %v", err)
	}
}

func TestAggregatorRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"limits: {connections: 0}":                          `limits.connections: want at least 1, not 0`,
		"limits: {calls_per_party: 1.5}":                    `want a whole number, have the bare word "1.5"`,
		"limits: {memory_mib: 63}":                          `want at least 64, not 63`,
		"limits: {memory_mib: 1e12}":                        `want a whole number, have the bare word "1e12"`,
		"limits: {connection: 5}":                           `did you mean "connections"?`,
		"listen: [/dns4/agg.example.org/tcp/443/tls/ws]":    "listen without /tls",
		"listen: [/ip4/0.0.0.0/tcp/7424/tls/sni/a.example]": "listen without /tls",
	} {
		if _, err := LoadAggregator(write(t, text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
