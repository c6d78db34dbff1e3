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

// Scope is something that a token lets its holder do.
type Scope string

// The scopes.
const (
	StudiesRead Scope = "studies:read" // studies, where they stand, who posted what
	ResultsRead Scope = "results:read" // results, in every format
	MetricsRead Scope = "metrics:read" // counts of what the node does

	StudiesWrite Scope = "studies:write" // drafting, hosting and cancelling studies
)

func Scopes() []Scope { return append(readScopes(), StudiesWrite) }

// readScopes are those that change nothing.
func readScopes() []Scope { return []Scope{StudiesRead, ResultsRead, MetricsRead} }

// Token is what is kept of a token: enough to know it again, nothing to show it by.
type Token struct {
	ID      string           `json:"id"`
	Name    string           `json:"name"` // what it is for, in its maker's words
	Scopes  []Scope          `json:"scopes"`
	Hash    string           `json:"sha256"` // of the secret part, in hexadecimal
	Created protocol.Instant `json:"created"`
	Expires protocol.Instant `json:"expires,omitempty"` // 0: never
}

// Tokens finds what is kept of a token by its id: its encoding, or ErrNotFound.
type Tokens func(id string) ([]byte, error)

// secretSize is the entropy of a token in bytes: enough that a plain hash keeps it.
const secretSize = 32

// tokenPrefix lets people and scanners know a token when they see one.
const tokenPrefix = "cosketch"

// Secret is the text of a token, which is shown once. Every way to print or encode it
// gives a fixed text instead; Reveal alone gives the token.
type Secret struct{ words }

type words = secret.Of[string]

func (s Secret) Reveal() string { return *secret.Reveal(s.words) }

// NewToken draws a token that has yet to be stored.
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

// Encode is the form in which a token is kept.
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

// errToken is the one answer to a token that is not valid: it does not say why.
var errToken = error(fail.APIBadToken)

// verify returns the record of a token that is valid now.
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

// lookUp returns the record of an id whose token is neither revoked nor expired.
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
