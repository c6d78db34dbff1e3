package node_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// vessel is a value that holds secrets.
type vessel struct {
	name  string
	value any
}

// vessels are all types that hold secrets, with the secrets that they hold.
func vessels(t *testing.T) (out []vessel, secrets map[string][]byte) {
	t.Helper()
	secrets = map[string][]byte{}
	rng := rand.NewChaCha8([32]byte{1})
	draw := func(name string) []byte {
		b := make([]byte, 32)
		rng.Read(b)
		secrets[name] = b
		return b
	}
	add := func(name string, value any) { out = append(out, vessel{name, value}) }

	s := seed.FromBytes([32]byte(draw("seed")))
	add("seed.Seed", s)
	kept, err := s.Keep(seed.ColumnRows)
	check(t, err)
	key, err := s.Derive(seed.ColumnRows)
	check(t, err)
	secrets["kept key"] = key[:]
	add("seed.Kept", kept)
	own, err := agree.Begin(sha256.Sum256(nil), 1, [32]byte{1}, rng)
	check(t, err)
	file, err := own.MarshalBinary()
	check(t, err)
	for i, name := range []string{"contribution", "blinder", "pair key", "ephemeral key"} {
		secrets[name] = file[1+32+4+32+32*i:][:32]
	}
	add("seed.Hidden", seed.Hide(file))
	add("agree.Secrets", own)
	add("agree.Outcome", agree.Outcome{Seed: s})
	add("session.SaveSecrets", session.SaveSecrets{Attempt: 1, Data: seed.Hide(file)})
	add("session.PartyRestored", session.PartyRestored{Secrets: map[uint32]seed.Hidden{1: seed.Hide(file)}})
	add("session.MakeRelease", session.MakeRelease{Seed: s})
	add("session.Effects", session.Effects{Persist: []session.Record{session.SaveSecrets{Data: seed.Hide(file)}}, Run: []session.Job{session.MakeRelease{Seed: s}}})

	identity := ed25519.NewKeyFromSeed(draw("identity"))
	signer, err := protocol.NewSigner(identity)
	check(t, err)
	add("protocol.Signer", signer)
	add("p2p.Config", p2p.Config{Key: func() ed25519.PrivateKey { return identity }})
	for _, role := range []store.Role{store.Party, store.Aggregator} {
		dir := t.TempDir() + "/state"
		check(t, store.Create(dir, role, rng))
		st, err := store.Open(dir, role, store.Options{})
		check(t, err)
		t.Cleanup(func() { st.Close() })
		secrets[string(role)+"'s identity"] = st.Identity().Seed()
		add(string(role)+"'s store.Store", st)
		add("node.PartyOptions of "+string(role), node.PartyOptions{Store: st})
		if role == store.Aggregator {
			hpke, err := st.HPKE().Bytes()
			check(t, err)
			secrets["HPKE key"] = hpke
			add("node.AggregatorOptions", node.AggregatorOptions{Store: st})
			add("node.Views", node.NewViews(st))
		}
	}
	_, token, err := api.NewToken("x", api.Scopes(), 0, 0)
	check(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(token.Reveal()[len("cosketch_00000000_"):])
	check(t, err)
	secrets["token"] = raw
	add("api.Secret", token)
	return out, secrets
}

// spellings are the ways in which secrets would be printed.
func spellings(secrets map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, s := range secrets {
		out[name] = s
		out[name+" in hexadecimal"] = []byte(hex.EncodeToString(s))
		out[name+" in capital hexadecimal"] = []byte(strings.ToUpper(hex.EncodeToString(s)))
		out[name+" in base64"] = []byte(base64.RawStdEncoding.EncodeToString(s[:30]))
		out[name+" in base64 for URLs"] = []byte(base64.RawURLEncoding.EncodeToString(s[:30]))
		for how, format := range map[string]string{"decimal": "%d", "Go": "%#v", "spaced hexadecimal": "% x", "binary": "%b"} {
			text := fmt.Sprintf(format, s)
			out[name+" in "+how] = []byte(text[len(text)/4 : 3*len(text)/4])
		}
	}
	return out
}

// paths are the ways by which a value leaves a program as text.
func paths(value any) map[string]string {
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%b", "%o", "%c", "%U", "%t", "%e", "%g"} {
		out["fmt "+verb] = fmt.Sprintf(verb, value)
	}
	out["fmt.Sprint"] = fmt.Sprint(value)
	out["error"] = fmt.Errorf("doing: %v", value).Error()
	out["errors.Join"] = errors.Join(fmt.Errorf("%+v", value)).Error()
	var text, lines bytes.Buffer
	for handler, to := range map[slog.Handler]*bytes.Buffer{slog.NewTextHandler(&text, nil): &text, slog.NewJSONHandler(&lines, nil): &lines} {
		logger := slog.New(handler)
		logger.Info("x", "value", value)
		logger.With("value", value).WithGroup("g").Info("x", slog.Group("h", "value", value))
		out[fmt.Sprintf("slog %T", handler)] = to.String()
	}
	if b, err := json.Marshal(value); err == nil {
		out["json"] = string(b)
	}
	out["yaml"] = marshalled(value)
	func() {
		defer func() { out["panic"] = fmt.Sprint(recover()) }()
		panic(value)
	}()
	return out
}

// marshalled is a value in YAML; what cannot be, panics there.
func marshalled(value any) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	b, err := yaml.Marshal(value)
	if err != nil {
		return ""
	}
	return string(b)
}

// No type that holds a secret gives it away, by itself or inside others, by whichever way
// it becomes text.
func TestSecretsAreRedactedByType(t *testing.T) {
	all, secrets := vessels(t)
	needles := spellings(secrets)
	for _, v := range all {
		for where, value := range map[string]any{
			"itself": v.value, "a slice": []any{v.value}, "a map": map[string]any{"k": v.value},
			"a field": struct{ Field any }{v.value}, "a hidden field": struct{ field any }{v.value}, "a pointer": &v.value,
		} {
			for path, text := range paths(value) {
				if found := find([]byte(text), needles); len(found) > 0 {
					t.Errorf("%s in %s by %s gives away %v", v.name, where, path, found)
				}
			}
		}
	}
	// The search is worth something only if it finds what is there.
	for path, text := range paths(struct{ Key []byte }{secrets["seed"]}) {
		if len(find([]byte(text), needles)) == 0 && !strings.Contains("fmt %c fmt %U fmt %t fmt %e fmt %g fmt %s fmt %q fmt %o", path) && path != "yaml" && path != "json" {
			t.Errorf("a plain seed by %s is not found in %s", path, text)
		}
	}
}
