package protocoltest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
)

// If an aggregator withholds a member's text, changes it, or replaces it, that member blames the
// aggregator and nobody else: the senders' roots show what they sealed.
func TestTextsThatAreKeptBack(t *testing.T) {
	for name, lie := range map[string]func(e protocol.Verified) protocol.Verified{
		"keeps it back": func(e protocol.Verified) protocol.Verified { return e.With(nil, nil) },
		"changes it": func(e protocol.Verified) protocol.Verified {
			texts, path := e.Beside()
			text := bytes.Clone(texts[0])
			text[0] ^= 1
			return e.With([][]byte{text}, path)
		},
		"changes the path": func(e protocol.Verified) protocol.Verified {
			texts, path := e.Beside()
			path = slices.Clone(path)
			path[0][0] ^= 1
			return e.With(texts, path)
		},
		"sends two": func(e protocol.Verified) protocol.Verified {
			texts, path := e.Beside()
			return e.With([][]byte{texts[0], texts[0]}, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSimulation(t, Options{}, Terms{Parties: 4, Quorum: 3, Attempts: 2, Apart: true})
			victim := s.Parties[1]
			victim.Excused = true
			lies := 0
			s.Lie = func(to *Party, b session.Board) session.Board {
				b.Envelopes = slices.Clone(b.Envelopes)
				for i, e := range b.Envelopes {
					if texts, _ := e.Beside(); to == victim && len(texts) > 0 {
						b.Envelopes[i] = lie(e)
						lies++
					}
				}
				return b
			}
			played(t, s)
			if lies == 0 || !aggregatorBlamed(s, victim) {
				t.Errorf("after %d lies the victim is %v", lies, victim.Status())
			}
			for _, r := range s.Blame() {
				if r.Proved {
					t.Errorf("%s was convicted: %v", s.name(r.Member), r.Err)
				}
			}
		})
	}
}
