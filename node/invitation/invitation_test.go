package invitation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
)

const address = "/dns4/agg.example.org/tcp/7424/p2p/12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5"

// A ticket from New is recognised by its record, however it was passed on, and only In prints its
// secret.
func TestTicket(t *testing.T) {
	made, ticket, err := New("north", 100, 200)
	if err != nil {
		t.Fatal(err)
	}
	plain, again, err := Split(ticket.In(address))
	if err != nil || plain != address || again.ID() != made.ID {
		t.Fatalf("%q %v", plain, err)
	}
	kept, err := Decode(made.Encode())
	if err != nil || kept != made {
		t.Errorf("%+v %v", kept, err)
	}
	_, secret := again.Reveal()
	if !kept.Knows(secret) {
		t.Error("the secret is not known again")
	}
	secret[15] ^= 1
	if kept.Knows(secret) || (Invitation{}).Knows([16]byte{}) {
		t.Error("another secret is known")
	}
	text := ticket.In("")[len(mark)+9:]
	printed := fmt.Sprintf("%v %+v %#v %s %x %v", ticket, ticket, ticket, ticket, ticket, struct{ t Ticket }{ticket})
	if strings.Contains(printed, text) || bytes.Contains(made.Encode(), []byte(text)) {
		t.Errorf("%q stands in %s", text, printed)
	}
	if _, err := json.Marshal(ticket); err == nil {
		t.Error("a ticket can be encoded")
	}
	if plain, none, err := Split(address); err != nil || plain != address || !none.IsZero() {
		t.Errorf("an address without an invitation: %q %v", plain, err)
	}
}

// A truncated or mistyped invitation in an address is refused without repeating it.
func TestSplitRefuses(t *testing.T) {
	_, ticket, err := New("north", 100, 200)
	if err != nil {
		t.Fatal(err)
	}
	whole := ticket.In(address)
	for _, text := range []string{
		whole[:len(whole)-1], whole + "A", whole + "/", address + mark, address + mark + "0123abc_" + strings.Repeat("A", 22),
		address + mark + "0123ABCD_" + strings.Repeat("A", 22), address + mark + "0123abcd_" + strings.Repeat("A", 21) + "B", whole + mark + "0123abcd",
	} {
		if _, _, err := Split(text); err != ErrForm {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{"north": true, "Klinik Süd": true, "": false, " north": false, "a\nb": false, strings.Repeat("n", MostName): true, strings.Repeat("n", MostName+1): false} {
		if _, _, err := New(name, 1, 2); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// An introduction is decoded unchanged, whatever its bytes are.
func TestIntroduction(t *testing.T) {
	came := Introduction{From: protocoltest.Identity("a").ID(), At: 7, Text: []byte("a\xff\x00")}
	again, err := DecodeIntroduction(came.Encode())
	if err != nil || !again.Same(came) || again.At != came.At {
		t.Errorf("%+v %v", again, err)
	}
	if other := (Introduction{From: came.From, Text: []byte("b")}); other.Same(came) {
		t.Error("another text is the same")
	}
	if other := (Introduction{From: protocoltest.Identity("b").ID(), Text: came.Text}); other.Same(came) {
		t.Error("another peer is the same")
	}
	if _, err := DecodeIntroduction([]byte(`{"peer":"x"}`)); err == nil {
		t.Error("a record without a peer is read")
	}
}

func TestOpen(t *testing.T) {
	k := Kept{Invitation: Invitation{Expires: 200}}
	used := Kept{k.Invitation, &Introduction{Text: []byte("x")}}
	if !k.Open(199) || k.Open(200) || used.Open(protocol.Instant(1)) {
		t.Error("open until it expires or is used")
	}
	if used.Forget(); used.Came == nil || used.Came.Text != nil {
		t.Errorf("%+v", used.Came)
	}
}
