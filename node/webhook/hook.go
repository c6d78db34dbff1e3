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

// Hook is a receiver and the moves that it is told of.
type Hook struct {
	Name   string // letters, digits, _ and -; also names its directory
	URL    string
	Secret Secret
	Moves  []Event // empty: all
}

// wants reports whether a hook is told of a move.
func (h Hook) wants(m Event) bool { return len(h.Moves) == 0 || slices.Contains(h.Moves, m) }

// CheckURL returns what is wrong with a hook's address, or "". Plain HTTP is allowed only to this
// machine.
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

// Secret returns the key that signs a hook's requests. It is a function, so that no log can print
// the key.
type Secret func() []byte

// The form of secrets in the specification.
const (
	secretPrefix = "whsec_"
	leastSecret  = 24 // bytes
	mostSecret   = 64
)

// NewSecret makes a secret in the form of its file.
func NewSecret() string {
	key := make([]byte, 32)
	rand.Read(key) // never fails: it ends the process instead
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// ParseSecret reads what NewSecret wrote. Its error reveals nothing of the text.
func ParseSecret(text []byte) (Secret, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(text)), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(rest)
	if !ok || err != nil || len(key) < leastSecret || len(key) > mostSecret {
		return nil, errors.New("no secret of a webhook: want whsec_ and 24 to 64 bytes in base64, as aggregator advanced webhook secret writes it")
	}
	return func() []byte { return key }, nil
}

// sign returns the signature over a request's id, the time of this attempt and the body.
func (s Secret) sign(id string, at protocol.Instant, body []byte) string {
	mac := hmac.New(sha256.New, s())
	io.WriteString(mac, id+"."+strconv.FormatInt(int64(at), 10)+".")
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
