package invitation

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/seed/secret"
)

// Invitation is the record of an invitation: enough to recognise its secret, not to reconstruct it.
type Invitation struct {
	ID      string           `json:"id"`     // 8 hexadecimal digits
	Name    string           `json:"name"`   // the invited organisation, in the operator's words
	Hash    string           `json:"sha256"` // of the secret, in hexadecimal
	Created protocol.Instant `json:"created"`
	Expires protocol.Instant `json:"expires"`
}

// Introduction is what was sent under an invitation.
type Introduction struct {
	From protocol.PeerID  `json:"-"` // who called
	Peer string           `json:"peer"`
	At   protocol.Instant `json:"at"`
	Text []byte           `json:"text"` // as received: a column list
}

// Ticket is the secret half of an invitation, which travels in an address. Nothing prints or encodes it.
type Ticket struct{ half }

type half = secret.Of[parts]

type parts struct {
	id     [4]byte
	secret [16]byte
}

// mark precedes an invitation in an address.
const mark = "/invitation/"

// MostName is the maximum length of an invitation's name, in characters.
const MostName = 64

// New draws an invitation. The caller must store it.
func New(name string, created, expires protocol.Instant) (Invitation, Ticket, error) {
	if err := checkName(name); err != nil {
		return Invitation{}, Ticket{}, fmt.Errorf("inviting %.80q: %w", name, err)
	}
	var drawn parts
	rand.Read(drawn.id[:])
	rand.Read(drawn.secret[:])
	i := Invitation{ID: hex.EncodeToString(drawn.id[:]), Name: name, Hash: hashOf(drawn.secret), Created: created, Expires: expires}
	return i, Ticket{secret.New(drawn)}, nil
}

func checkName(name string) error {
	if name == "" || strings.TrimSpace(name) != name || len([]rune(name)) > MostName {
		return fmt.Errorf("a name has 1 to %d characters, and no spaces around it", MostName)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return errors.New("a name has printable characters alone")
		}
	}
	return nil
}

func hashOf(secret [16]byte) string {
	sum := sha256.Sum256(secret[:])
	return hex.EncodeToString(sum[:])
}

// Knows reports whether a secret is the invitation's, in constant time.
func (i Invitation) Knows(secret [16]byte) bool {
	return subtle.ConstantTimeCompare([]byte(hashOf(secret)), []byte(i.Hash)) == 1
}

// Encode returns the stored form of an invitation.
func (i Invitation) Encode() []byte { return encode(i) }

// Decode reads what Encode wrote.
func Decode(raw []byte) (i Invitation, err error) {
	if err := json.Unmarshal(raw, &i); err != nil {
		return i, fmt.Errorf("reading an invitation's record: %w", err)
	}
	return i, nil
}

// Encode returns the stored form of an introduction.
func (i Introduction) Encode() []byte {
	i.Peer = i.From.String()
	return encode(i)
}

// DecodeIntroduction reads what Encode wrote.
func DecodeIntroduction(raw []byte) (i Introduction, err error) {
	if err = json.Unmarshal(raw, &i); err == nil {
		i.From, err = protocol.ParsePeerID(i.Peer)
	}
	if err != nil {
		return i, fmt.Errorf("reading an introduction that came: %w", err)
	}
	return i, nil
}

// Same reports whether two introductions are equal: a party repeats one whose answer was lost.
func (i Introduction) Same(as Introduction) bool {
	return i.From == as.From && bytes.Equal(i.Text, as.Text)
}

func encode(record any) []byte {
	raw, err := json.Marshal(record)
	if err != nil {
		panic("invitation: a record holds text and numbers alone: " + err.Error())
	}
	return raw
}

// IsZero reports whether there is no ticket.
func (t Ticket) IsZero() bool { return secret.Reveal(t.half) == nil }

// Reveal returns the id and the secret, to be sent.
func (t Ticket) Reveal() (id [4]byte, of [16]byte) {
	p := secret.Reveal(t.half)
	return p.id, p.secret
}

// ID is the invitation's id, which is not secret.
func (t Ticket) ID() string {
	id, _ := t.Reveal()
	return hex.EncodeToString(id[:])
}

// In appends the ticket to an address of the aggregator, to be handed to a party. The result is
// secret.
func (t Ticket) In(address string) string {
	_, of := t.Reveal()
	return address + mark + t.ID() + "_" + base64.RawURLEncoding.EncodeToString(of[:])
}

var form = regexp.MustCompile(`^([0-9a-f]{8})_([A-Za-z0-9_-]{22})$`)

// ErrForm reports an address whose invitation is incomplete. It does not repeat the address.
var ErrForm error = fail.InvitationForm

// Split splits an address from the ticket that may follow it.
func Split(address string) (plain string, t Ticket, err error) {
	plain, text, invited := strings.Cut(address, mark)
	if !invited {
		return address, t, nil
	}
	found := form.FindStringSubmatch(text)
	if found == nil {
		return plain, t, ErrForm
	}
	id, err := hex.DecodeString(found[1])
	if err != nil {
		return plain, t, ErrForm
	}
	of, err := base64.RawURLEncoding.Strict().DecodeString(found[2])
	if err != nil {
		return plain, t, ErrForm
	}
	return plain, Ticket{secret.New(parts{[4]byte(id), [16]byte(of)})}, nil
}
