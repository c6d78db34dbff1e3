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

// A browser gets a session, and not the token: what a cookie holds goes to every port of this
// host, and a session ends by itself, with its token, and with this process.

const (
	signedInFor  = 12 * time.Hour
	linkFor      = time.Hour
	mostSessions = 32 // of one token; the oldest ends for another
)

// errSession is the answer to a cookie of no session.
var errSession = error(fail.APISessionOver)

// signIn is what is kept of a session, by the hash of its id.
type signIn struct {
	token   Token // with which it was opened; without an id: by the link of this process
	opened  int   // the how manieth
	expires protocol.Instant
}

// sessions are those of browsers that signed in.
type sessions struct {
	mu    sync.Mutex
	by    map[[sha256.Size]byte]signIn
	count int

	link       [sha256.Size]byte // of the key that opens a session once; zero: none
	linkBefore protocol.Instant
}

// newKey draws a text that nobody guesses.
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

// find returns the session of an id.
func (s *sessions) find(id string, now protocol.Instant) (signIn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.by[sha256.Sum256([]byte(id))]
	return one, ok && now < one.expires
}

// end forgets a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, sha256.Sum256([]byte(id)))
}

// newLink makes the key of a link, in place of the one before.
func (s *sessions) newLink(now protocol.Instant) string {
	key, hash := newKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link, s.linkBefore = hash, now+protocol.Instant(linkFor/time.Second)
	return key
}

// useLink reports whether a text is the key of the link, whose use that is.
func (s *sessions) useLink(text string, now protocol.Instant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.linkBefore == 0 || now >= s.linkBefore || sha256.Sum256([]byte(text)) != s.link {
		return false
	}
	s.linkBefore = 0
	return true
}

// Link returns the path of a page on which whoever runs this process signs in without a token,
// once and within an hour. It shows all that tokens show.
func (s *Server) Link() string { return "/signin?key=" + s.sessions.newLink(s.Now()) }

// signedIn returns the token with which a session was opened, as long as both are valid.
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

// tokenOf returns the token that a text on the sign-in page is, or that the link stands for.
func (s *Server) tokenOf(text string) (Token, error) {
	if now := s.Now(); !s.sessions.useLink(text, now) {
		return s.Tokens.verify(text, now)
	}
	return Token{Name: "the link of this process", Scopes: readScopes()}, nil
}
