package protocol

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"reflect"
	"testing"
)

func asker(t testing.TB) Signer {
	t.Helper()
	s, err := NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asks returns a query, and answers the answer to it, each by its signer.
func asks(s Signer) Query {
	return s.SignQuery(Query{Study: StudyID{1, 2}, T2: Digest{4}, Number: 3, Rows: 500, Cols: 64, Width: 2, Data: Document{Digest{5}, 64_000}})
}

func answers(s Signer) Answer {
	return s.SignAnswer(Answer{Study: StudyID{1, 2}, Party: s.ID(), Query: asks(s).ID(), At: 1_800_000_000, Document: Document{Digest{6}, 1234}})
}

func TestQueryAndAnswer(t *testing.T) {
	s := asker(t)
	id := StudyID{1, 2}
	if got, err := DecodeQuery(id, s.ID(), asks(s).Encode()); err != nil || !reflect.DeepEqual(got, asks(s)) {
		t.Errorf("read back %+v (%v), want %+v", got, err, asks(s))
	}
	if got, err := DecodeAnswer(id, s.ID(), answers(s).Encode()); err != nil || !reflect.DeepEqual(got, answers(s)) {
		t.Errorf("read back %+v (%v), want %+v", got, err, answers(s))
	}
	for name, c := range map[string]struct {
		encoded []byte
		decode  func(StudyID, []byte) error
	}{
		"query":  {asks(s).Encode(), func(id StudyID, b []byte) error { _, err := DecodeQuery(id, s.ID(), b); return err }},
		"answer": {answers(s).Encode(), func(id StudyID, b []byte) error { _, err := DecodeAnswer(id, s.ID(), b); return err }},
	} {
		for at := range c.encoded { // every byte counts
			changed := bytes.Clone(c.encoded)
			changed[at] ^= 1
			if c.decode(id, changed) == nil {
				t.Errorf("%s: byte %d can be changed", name, at)
			}
		}
		for n := range c.encoded {
			if c.decode(id, c.encoded[:n]) == nil {
				t.Errorf("%s: the first %d bytes pass", name, n)
			}
		}
		if c.decode(id, append(c.encoded[:len(c.encoded):len(c.encoded)], 0)) == nil {
			t.Errorf("%s: a trailing byte passes", name)
		}
		if err := c.decode(StudyID{9}, c.encoded); !errors.Is(err, ErrSignature) {
			t.Errorf("%s as one of another study: %v", name, err)
		}
	}
	// An invalid query is refused even with a valid signature.
	for name, change := range map[string]func(*Query){
		"number 0": func(q *Query) { q.Number = 0 }, "no rows": func(q *Query) { q.Rows = 0 }, "rows below 0": func(q *Query) { q.Rows = -1 },
		"no columns": func(q *Query) { q.Cols = 0 }, "width 9": func(q *Query) { q.Width = 9 }, "no data": func(q *Query) { q.Data.Size = 0 },
	} {
		q := asks(s)
		change(&q)
		if _, err := DecodeQuery(id, s.ID(), s.SignQuery(q).Encode()); err == nil {
			t.Errorf("%s: it passes", name)
		}
	}
	// A signature is not valid for another statement.
	swapped := asks(s)
	swapped.Number++
	if swapped.ID() == asks(s).ID() {
		t.Error("two queries have one id")
	}
}

func FuzzDecodeQuery(f *testing.F) {
	s := asker(f)
	f.Add(asks(s).Encode(), true)
	f.Add(answers(s).Encode(), false)
	f.Fuzz(func(t *testing.T, b []byte, query bool) {
		if query {
			if q, err := DecodeQuery(StudyID{1, 2}, s.ID(), b); err == nil && !bytes.Equal(q.Encode(), b) {
				t.Errorf("%x is read as what is written %x", b, q.Encode())
			}
			return
		}
		if a, err := DecodeAnswer(StudyID{1, 2}, s.ID(), b); err == nil && !bytes.Equal(a.Encode(), b) {
			t.Errorf("%x is read as what is written %x", b, a.Encode())
		}
	})
}
