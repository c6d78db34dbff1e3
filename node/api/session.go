package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// A browser gets a session, not the token. Cookies are sent to every port of this host, and a
// session ends by itself, with its token, and with this process.

const (
	signedInFor  = 12 * time.Hour
	linkFor      = time.Hour
	mostSessions = 32 // per token; a new one ends the oldest
)

// errSession is the answer to a cookie without a valid session.
var errSession = error(fail.APISessionOver)

// signIn is the record of a session, stored under the hash of its id.
type signIn struct {
	token   Token // that opened it; without an id: the link of this process
	opened  int   // serial number
	expires protocol.Instant
}

// sessions are the sessions of browsers that signed in.
type sessions struct {
	mu    sync.Mutex
	by    map[[sha256.Size]byte]signIn
	count int

	link       [sha256.Size]byte // hash of the one-time key that opens a session; zero: none
	linkBefore protocol.Instant
}

// newKey draws a random key that cannot be guessed.
func newKey() (key string, hash [sha256.Size]byte) {
	var raw [secretSize]byte
	rand.Read(raw[:])
	key = base64.RawURLEncoding.EncodeToString(raw[:])
	return key, sha256.Sum256([]byte(key))
}

// open makes a session and returns its id.
func (s *sessions) open(t Token, now protocol.Instant) string {
	id, hash := newKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest, same := hash, 0
	for h, one := range s.by {
		if now >= one.expires {
			delete(s.by, h)
		} else if one.token.ID == t.ID {
			if same++; oldest == hash || one.opened < s.by[oldest].opened {
				oldest = h
			}
		}
	}
	if same >= mostSessions {
		delete(s.by, oldest)
	}
	if s.by == nil {
		s.by = make(map[[sha256.Size]byte]signIn)
	}
	s.count++
	s.by[hash] = signIn{t, s.count, now + protocol.Instant(signedInFor/time.Second)}
	return id
}

// find returns the session with an id.
func (s *sessions) find(id string, now protocol.Instant) (signIn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.by[sha256.Sum256([]byte(id))]
	return one, ok && now < one.expires
}

// end deletes a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, sha256.Sum256([]byte(id)))
}

// newLink makes the key of a link and replaces the previous one.
func (s *sessions) newLink(now protocol.Instant) string {
	key, hash := newKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link, s.linkBefore = hash, now+protocol.Instant(linkFor/time.Second)
	return key
}

// useLink reports whether a text is the key of the link, and uses it up.
func (s *sessions) useLink(text string, now protocol.Instant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.linkBefore == 0 || now >= s.linkBefore || sha256.Sum256([]byte(text)) != s.link {
		return false
	}
	s.linkBefore = 0
	return true
}

// Link returns the path of a page on which the operator of this process can sign in without a
// token, once and within an hour. The session has all read scopes.
func (s *Server) Link() string { return "/signin?key=" + s.sessions.newLink(s.Now()) }

// signedIn returns the token that opened a session, while both are valid.
func (s *Server) signedIn(id string) (Token, error) {
	now := s.Now()
	one, ok := s.sessions.find(id, now)
	if !ok {
		return Token{}, errSession
	}
	if one.token.ID == "" {
		return one.token, nil
	}
	t, err := s.Tokens.lookUp(one.token.ID, now)
	if errors.Is(err, errToken) || err == nil && t.Hash != one.token.Hash {
		return Token{}, errSession
	}
	return t, err
}

// tokenOf returns the token typed on the sign-in page, or the one for which the link stands.
func (s *Server) tokenOf(text string) (Token, error) {
	if now := s.Now(); !s.sessions.useLink(text, now) {
		return s.Tokens.verify(text, now)
	}
	return Token{Name: "the link of this process", Scopes: readScopes()}, nil
}
