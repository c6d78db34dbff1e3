package node_test

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	crand "crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/views"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
	"github.com/cosketch/cosketch/seed/stream"
)

// vessel is a value that contains secrets.
type vessel struct {
	name  string
	value any
}

// vessels returns a value of every type that contains secrets, with those secrets.
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
		add("party.Options of "+string(role), party.Options{Store: st})
		if role == store.Aggregator {
			hpke, err := st.HPKE().Bytes()
			check(t, err)
			secrets["HPKE key"] = hpke
			add("aggregator.Options", aggregator.Options{Store: st})
			add("node.Views", views.New(st))
		}
	}
	web := ed25519.NewKeyFromSeed(draw("TLS key"))
	certificate := &tls.Certificate{PrivateKey: web}
	add("config.Aggregator", config.Aggregator{HTTP: config.HTTP{TLS: func() *tls.Certificate { return certificate }}})
	pairs, err := agree.ParsePairs(slices.Concat([]byte{0, 0, 0, 0, 0, 0, 0, 2}, make([]byte, 32), draw("pair secret")))
	check(t, err)
	add("agree.Pairs", pairs)
	add("stream.Stream", stream.New([32]byte(draw("row key"))))
	_, token, err := api.NewToken("x", api.Scopes(), 0, 0)
	check(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(token.Reveal()[len("cosketch_00000000_"):])
	check(t, err)
	secrets["token"] = raw
	add("api.Secret", token)
	return out, secrets
}

// spellings returns the ways in which secrets could be printed.
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

// asked is the backend of an API in which every request fails.
type asked struct {
	api.Views
	err    error
	panics any
}

func (a *asked) Studies() ([]api.Listed, error) {
	if a.panics != nil {
		panic(a.panics)
	}
	return nil, a.err
}

func (a *asked) Ready() error { return a.err }

// outlets are the parts of a node that turn errors into text.
type outlets struct {
	views   *asked
	log     bytes.Buffer
	server  *api.Server
	journal *store.Store
}

func newOutlets(t *testing.T) *outlets {
	t.Helper()
	o := &outlets{views: &asked{}}
	server, err := api.New(api.Options{Views: o.views, Now: func() protocol.Instant { return 0 }, Metrics: &metrics.Registry{}, Loopback: true, WithoutTokens: true,
		Logger: slog.New(slog.NewJSONHandler(&o.log, nil))})
	check(t, err)
	o.server = server
	dir := t.TempDir() + "/state"
	check(t, store.Create(dir, store.Party, crand.Reader))
	o.journal, err = store.Open(dir, store.Party, store.Options{})
	check(t, err)
	t.Cleanup(func() { o.journal.Close() })
	return o
}

// paths returns the outputs of a node with a value in them: answers to requests that fail or panic
// with it, their log lines, metrics, and the journal.
func (o *outlets) paths(t *testing.T, value any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for how, views := range map[string]asked{
		"an error":             {err: fmt.Errorf("reading: %v", value)},
		"a detailed error":     {err: fmt.Errorf("reading: %#v", value)},
		"a problem":            {err: &api.Problem{Status: http.StatusTeapot, Detail: fmt.Sprintf("%+v", value)}},
		"a panic":              {panics: value},
		"a panic of a pointer": {panics: &value},
		"a panic of an error":  {panics: fmt.Errorf("%+v", value)},
	} {
		views.err = cmp.Or(views.err, errors.New("not asked"))
		*o.views = views
		o.log.Reset()
		for _, path := range []string{"/api/v1/studies", "/readyz"} {
			request := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil)
			request.RemoteAddr = "127.0.0.1:1"
			answer := httptest.NewRecorder()
			o.server.ServeHTTP(answer, request)
			out["HTTP, the answer of "+path+" to "+how] = answer.Body.String()
			if want := http.StatusTeapot; path == "/api/v1/studies" && answer.Code < 500 && answer.Code != want {
				t.Fatalf("%s: %d", how, answer.Code)
			}
		}
		out["HTTP, the log of "+how] = o.log.String()
	}
	registry := &metrics.Registry{}
	registry.Counter("x_total", fmt.Sprint(value), "label").Add(1, fmt.Sprintf("%+v", value))
	var text bytes.Buffer
	check(t, registry.Write(&text))
	out["metrics"] = text.String()
	check(t, o.journal.Note(journal.Entry{Event: journal.Added, Study: fmt.Sprintf("%x", value), To: fmt.Sprint(value), Note: fmt.Sprintf("%+v %#v", value, value)}))
	entries, err := o.journal.Journal()
	check(t, err)
	raw, err := entries[len(entries)-1].Encode()
	check(t, err)
	out["journal"] = string(raw) + entries[len(entries)-1].Note
	return out
}

// paths returns the texts that a value can become.
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

// marshalled is a value in YAML; the encoder panics on what it cannot encode.
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

// No type with a secret reveals it when it becomes text, by itself or inside others, in any way.
func TestSecretsAreRedactedByType(t *testing.T) {
	all, secrets := vessels(t)
	needles := spellings(secrets)
	node := newOutlets(t)
	for _, v := range all {
		for where, value := range map[string]any{
			"itself": v.value, "a slice": []any{v.value}, "a map": map[string]any{"k": v.value},
			"a field": struct{ Field any }{v.value}, "a hidden field": struct{ field any }{v.value}, "a pointer": &v.value,
		} {
			texts := paths(value)
			maps.Copy(texts, node.paths(t, value))
			for path, text := range texts {
				if found := find([]byte(text), needles); len(found) > 0 {
					t.Errorf("%s in %s by %s gives away %v", v.name, where, path, found)
				}
			}
		}
	}
	// The search is valid only if it finds what is there.
	plain := struct{ Key []byte }{secrets["seed"]}
	texts := paths(plain)
	maps.Copy(texts, node.paths(t, plain))
	said := 0
	for path, text := range texts {
		switch {
		case len(find([]byte(text), needles)) > 0:
			said++
			if strings.HasPrefix(path, "HTTP, the answer") && path != "HTTP, the answer of /api/v1/studies to a problem" {
				t.Errorf("%s tells a caller what is for the log", path)
			}
		case strings.Contains("fmt %c fmt %U fmt %t fmt %e fmt %g fmt %s fmt %q fmt %o yaml json", path): // other spellings
		case strings.HasPrefix(path, "HTTP, the answer"): // if the caller is not at fault, nothing is sent
		case path == "HTTP, the log of a problem", path == "HTTP, the log of a panic of a pointer": // one is not logged, the other is an address
		default:
			t.Errorf("a plain seed by %s is not found in %s", path, text)
		}
	}
	if said < 20 || len(find([]byte(texts["HTTP, the answer of /api/v1/studies to a problem"]), needles)) == 0 {
		t.Errorf("a plain seed is found in %d texts", said)
	}
}
