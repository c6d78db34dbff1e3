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

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/private"
)

// HTTP says where an aggregator shows its studies to readers, and to whom.
type HTTP struct {
	Listen        string                  // HOST:PORT; empty: nowhere
	Hosts         []string                // names by which readers reach it, in lower case, beside those of the loopback interface
	WithoutTokens bool                    // callers on the loopback interface need no token
	BehindProxy   bool                    // TLS ends at a proxy in front of it
	TLS           func() *tls.Certificate // nil: plain HTTP; a function, so that no log can hold the key
	Connections   int                     // open at once; default 256
	Streams       int                     // of events at once; default 64
}

func (h *HTTP) parse(s source) parser {
	return func(n *yaml.Node) error {
		tokens := ""
		err := s.fields(n, fields{
			"listen":       s.text(&h.Listen),
			"hosts":        s.hosts(&h.Hosts),
			"tokens":       oneOf(s, &tokens, []string{"always", "unless_loopback"}),
			"behind_proxy": s.boolean(&h.BehindProxy),
			"connections":  s.count(&h.Connections),
			"streams":      s.count(&h.Streams),
			"tls":          h.parseTLS(s),
		})
		h.WithoutTokens = tokens == "unless_loopback"
		if err == nil && h.Listen == "off" {
			h.Listen = ""
		}
		if err == nil {
			err = h.Check()
		}
		if err != nil && n != nil && !errors.As(err, new(*placed)) {
			err = s.errorf(n, "%v", err)
		}
		return err
	}
}

func (h *HTTP) parseTLS(s source) parser {
	return func(n *yaml.Node) error {
		var cert, key string
		if err := s.fields(n, fields{"cert": s.text(&cert), "key": s.text(&key)}); err != nil {
			return err
		}
		if cert == "" || key == "" {
			return s.errorf(n, "tls: want cert and key, files in PEM form")
		}
		if strings.Contains(cert, "-----BEGIN") || strings.Contains(key, "-----BEGIN") {
			return s.errorf(n, "tls: cert and key are the paths of files; what is in them does not belong here")
		}
		pair, err := readPair(s.absolute(cert), s.absolute(key))
		if err != nil {
			return s.errorf(n, "tls: %v", err)
		}
		h.TLS = func() *tls.Certificate { return &pair }
		return nil
	}
}

// readPair reads a certificate and its key, which only its owner and its group may be able to read.
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

func (s source) hosts(to *[]string) parser {
	return func(n *yaml.Node) error {
		if err := s.texts(to)(n); err != nil {
			return err
		}
		for i, name := range *to {
			name = strings.ToLower(name)
			if _, err := netip.ParseAddr(name); err != nil && !hostName.MatchString(name) {
				return s.errorf(n.Content[i], "host %q: want a name like cosketch.example.org, without scheme and port", name)
			}
			(*to)[i] = name
		}
		return nil
	}
}

// Check refuses an address that would show results, or tokens, to whom they are not for.
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

// onLoopback reports whether an address is one of the loopback interface.
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

// loopback reads an address of the loopback interface.
func (s source) loopback(to *string) parser {
	return func(n *yaml.Node) error {
		if err := s.text(to)(n); err != nil {
			return err
		}
		if *to == "off" {
			*to = ""
			return nil
		}
		ok, err := onLoopback(*to)
		if err == nil && !ok {
			err = fmt.Errorf("address %q is open to other machines: want one like 127.0.0.1:7481", *to)
		}
		if err != nil {
			return s.errorf(n, "%v", err)
		}
		return nil
	}
}
