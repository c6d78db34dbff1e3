package config

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol/schema"
)

// HTTP says where an aggregator shows its studies to readers, and to whom.
type HTTP struct {
	Listen        string                  // HOST:PORT; empty: off
	Hosts         []string                // host names of this server, in lower case, besides those of the loopback interface
	WithoutTokens bool                    // callers on the loopback interface need no token
	BehindProxy   bool                    // TLS ends at a proxy in front of it
	TLS           func() *tls.Certificate // nil: plain HTTP; a function, so that no log can print the key
	Connections   int                     // concurrent connections; default 256
	Streams       int                     // concurrent streams of events; default 64
}

// pair has the paths of a certificate and its key.
type pair struct{ cert, key string }

// readTLS reads the files of a pair.
func readTLS(r *schema.Reader, at schema.Item, h *HTTP, files *pair) {
	switch {
	case files.cert == "" || files.key == "":
		r.Fail(at.Path, "want cert and key, files in PEM form")
		return
	case strings.Contains(files.cert, "-----BEGIN") || strings.Contains(files.key, "-----BEGIN"):
		r.Fail(at.Path, "cert and key are the paths of files; what is in them does not belong here")
		return
	}
	pair, err := readPair(absolute(r, files.cert), absolute(r, files.key))
	if err != nil {
		r.Fail(at.Path, "%v", err).Cause = err
		return
	}
	h.TLS = func() *tls.Certificate { return &pair }
}

// readPair reads a certificate and its key, which must be readable only by its owner and group.
func readPair(cert, key string) (tls.Certificate, error) {
	secret, err := private.ReadOfGroup(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	public, err := os.ReadFile(cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(public, secret)
	if err != nil {
		return pair, fmt.Errorf("%s and %s: %w", cert, key, err)
	}
	return pair, nil
}

var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// host reads a host name and converts it to lower case.
func host() schema.Form[string] {
	return schema.Text(schema.Itself[string], func(name string) string {
		if _, err := netip.ParseAddr(name); err != nil && !hostName.MatchString(strings.ToLower(name)) {
			return fmt.Sprintf("host %q: want a name like cosketch.example.org, without scheme and port", name)
		}
		return ""
	}).Then(func(_ *schema.Reader, _ schema.Item, name *string) { *name = strings.ToLower(*name) })
}

// Check refuses an address at which results or tokens would be exposed.
func (h HTTP) Check() error {
	if h.Listen == "" {
		return nil
	}
	loopback, err := onLoopback(h.Listen)
	switch {
	case err != nil:
		return err
	case h.WithoutTokens && (!loopback || len(h.Hosts) > 0 || h.BehindProxy):
		return errors.New("tokens: unless_loopback is for readers on this machine alone: leave it out, or listen at a loopback address without hosts and behind_proxy")
	case loopback:
		return nil
	case len(h.Hosts) == 0:
		return fmt.Errorf("http listens at %s, beyond this machine: say under which names readers reach it (hosts: [cosketch.example.org])", h.Listen)
	case h.TLS == nil && !h.BehindProxy:
		return fmt.Errorf("http listens at %s, beyond this machine, where tokens would travel in the clear: give tls: {cert: …, key: …}, or, where TLS ends at a proxy in front of it, behind_proxy: true", h.Listen)
	}
	return nil
}

// onLoopback reports whether an address is on the loopback interface.
func onLoopback(address string) (bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return false, fmt.Errorf("address %q: want HOST:PORT, like 127.0.0.1:7480", address)
	}
	if host == "localhost" {
		return true, nil
	}
	ip, err := netip.ParseAddr(host)
	if host != "" && err != nil {
		return false, fmt.Errorf("address %q: want an IP address before the port, like 127.0.0.1:7480", address)
	}
	return err == nil && ip.IsLoopback(), nil
}

// readMetrics reads an address, which must be on the loopback interface.
func readMetrics(r *schema.Reader, at schema.Item, p *Party) {
	address := r.Text(at)
	if off(&address); address == "" {
		return // off, or reported already
	}
	ok, err := onLoopback(address)
	if err == nil && !ok {
		err = fmt.Errorf("address %q is open to other machines: want one like 127.0.0.1:7481", address)
	}
	if err != nil {
		r.Fail(at.Path, "%v", err)
	}
	p.Metrics = address
}
