package api

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/seed/secret"
)

// Scope is a permission of a token.
type Scope string

// The scopes.
const (
	StudiesRead Scope = "studies:read" // studies, their status, and who posted what
	ResultsRead Scope = "results:read" // results, in every format
	MetricsRead Scope = "metrics:read" // counts of what the node does

	StudiesWrite Scope = "studies:write" // drafting, hosting and cancelling studies
)

func Scopes() []Scope { return append(readScopes(), StudiesWrite) }

// readScopes are the scopes that change nothing.
func readScopes() []Scope { return []Scope{StudiesRead, ResultsRead, MetricsRead} }

// Token is the record of a token: enough to recognise it, not to reconstruct it.
type Token struct {
	ID      string           `json:"id"`
	Name    string           `json:"name"` // what it is for, in its maker's words
	Scopes  []Scope          `json:"scopes"`
	Hash    string           `json:"sha256"` // of the secret part, in hexadecimal
	Created protocol.Instant `json:"created"`
	Expires protocol.Instant `json:"expires,omitempty"` // 0: never
}

// Tokens returns the encoded record of a token by its id, or ErrNotFound.
type Tokens func(id string) ([]byte, error)

// secretSize is the entropy of a token in bytes: enough that a plain hash is safe.
const secretSize = 32

// tokenPrefix lets people and secret scanners recognise a token.
const tokenPrefix = "cosketch"

// Secret is the text of a token, which is shown once. Printing or encoding it gives a fixed text;
// only Reveal gives the token.
type Secret struct{ words }

type words = secret.Of[string]

func (s Secret) Reveal() string { return *secret.Reveal(s.words) }

// NewToken draws a token. The caller must store it.
func NewToken(name string, scopes []Scope, created, expires protocol.Instant) (Token, Secret, error) {
	for _, s := range scopes {
		if !slices.Contains(Scopes(), s) {
			return Token{}, Secret{}, fmt.Errorf("making a token: %q is no scope: want some of %s", s, scopeList(Scopes()))
		}
	}
	if len(scopes) == 0 {
		return Token{}, Secret{}, fmt.Errorf("making a token: it needs a scope: some of %s", scopeList(Scopes()))
	}
	var id [4]byte
	var drawn [secretSize]byte
	rand.Read(id[:])
	rand.Read(drawn[:])
	hash := sha256.Sum256(drawn[:])
	t := Token{ID: hex.EncodeToString(id[:]), Name: name, Scopes: scopes, Hash: hex.EncodeToString(hash[:]), Created: created, Expires: expires}
	return t, Secret{secret.New(tokenPrefix + "_" + t.ID + "_" + base64.RawURLEncoding.EncodeToString(drawn[:]))}, nil
}

func scopeList(scopes []Scope) string {
	var out []string
	for _, s := range scopes {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}

// Encode returns the stored form of a token.
func (t Token) Encode() []byte {
	b, err := json.Marshal(t)
	if err != nil {
		panic("api: a token's record holds text and numbers alone: " + err.Error())
	}
	return b
}

// DecodeToken reads what Encode wrote.
func DecodeToken(b []byte) (t Token, err error) {
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("reading a token's record: %w", err)
	}
	return t, nil
}

func (t Token) Has(s Scope) bool { return slices.Contains(t.Scopes, s) }

var tokenForm = regexp.MustCompile(`^` + tokenPrefix + `_([0-9a-f]{8})_([A-Za-z0-9_-]{43})$`)

// errToken is the only answer to an invalid token: it does not say why.
var errToken = error(fail.APIBadToken)

// verify returns the record of a token if it is valid now.
func (f Tokens) verify(text string, now protocol.Instant) (Token, error) {
	parts := tokenForm.FindStringSubmatch(text)
	if parts == nil {
		return Token{}, errToken
	}
	t, err := f.lookUp(parts[1], now)
	if err != nil {
		return Token{}, err
	}
	part, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return Token{}, errToken
	}
	hash := sha256.Sum256(part)
	if subtle.ConstantTimeCompare([]byte(hex.EncodeToString(hash[:])), []byte(t.Hash)) != 1 {
		return Token{}, errToken
	}
	return t, nil
}

// lookUp returns the record of a token by its id, if it is neither revoked nor expired.
func (f Tokens) lookUp(id string, now protocol.Instant) (Token, error) {
	if f == nil {
		return Token{}, errToken
	}
	raw, err := f(id)
	if errors.Is(err, ErrNotFound) {
		return Token{}, errToken
	}
	if err != nil {
		return Token{}, fmt.Errorf("looking a token up: %w", err)
	}
	t, err := DecodeToken(raw)
	if err == nil && t.Expires != 0 && now >= t.Expires {
		err = errToken
	}
	if err != nil {
		return Token{}, err
	}
	return t, nil
}
