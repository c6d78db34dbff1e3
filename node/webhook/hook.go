package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// Hook is whom to tell of what.
type Hook struct {
	Name   string // of letters, digits, _ and -: also a directory's
	URL    string
	Secret Secret
	Moves  []Move // empty: all
}

// wants reports whether a hook is told of a move.
func (h Hook) wants(m Move) bool { return len(h.Moves) == 0 || slices.Contains(h.Moves, m) }

// CheckURL says what is wrong with a hook's address, or "". What it is told travels in the clear on this machine alone.
func CheckURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return fmt.Sprintf("url %q: want one like https://portal.example.org/cosketch", text)
	case u.User != nil:
		return "url with a user or a password: the signature alone proves who calls"
	case u.Fragment != "":
		return fmt.Sprintf("url %q: leave out what stands behind #", text)
	case u.Scheme == "https" || u.Scheme == "http" && onLoopback(u.Hostname()):
		return ""
	}
	return fmt.Sprintf("url %q: want https; http goes to this machine alone (127.0.0.1, [::1])", text)
}

func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Secret is the key that a hook's requests are signed with. It is a function, so that no log can hold the key.
type Secret func() []byte

// Secrets are written as the specification has it.
const (
	secretPrefix = "whsec_"
	leastSecret  = 24 // bytes
	mostSecret   = 64
)

// NewSecret makes a secret, as a file holds it.
func NewSecret() string {
	key := make([]byte, 32)
	rand.Read(key) // ends the process where it fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// ParseSecret reads what NewSecret wrote. Its error shows nothing of the text.
func ParseSecret(text []byte) (Secret, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(text)), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(rest)
	if !ok || err != nil || len(key) < leastSecret || len(key) > mostSecret {
		return nil, errors.New("no secret of a webhook: want whsec_ and 24 to 64 bytes in base64, as aggregator advanced webhook secret writes it")
	}
	return func() []byte { return key }, nil
}

// sign is the signature of a request: of its id, the instant of this try and the body.
func (s Secret) sign(id string, at protocol.Instant, body []byte) string {
	mac := hmac.New(sha256.New, s())
	io.WriteString(mac, id+"."+strconv.FormatInt(int64(at), 10)+".")
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
