package config

import (
	"crypto/x509"
	"math"
	"os"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/p2p"
)

// Network says how a party reaches aggregators.
type Network struct {
	// Roots certify the outer TLS of WebSocket addresses; nil: the system's. A network
	// whose proxy opens HTTPS has an authority of its own.
	Roots *x509.CertPool
}

func (n *Network) parse(s source) parser {
	return func(node *yaml.Node) error {
		return s.fields(node, fields{"roots": func(node *yaml.Node) error {
			var path string
			if err := s.text(&path)(node); err != nil {
				return err
			}
			pem, err := os.ReadFile(s.absolute(path))
			if err != nil {
				return s.errorf(node, "roots: %v", err)
			}
			n.Roots = x509.NewCertPool()
			if !n.Roots.AppendCertsFromPEM(pem) {
				return s.errorf(node, "roots: %q holds no certificate in PEM form", path)
			}
			return nil
		}})
	}
}

// parseLimits reads what peers may occupy at an aggregator.
func parseLimits(s source, to *p2p.Limits) parser {
	return func(n *yaml.Node) error {
		return s.fields(n, fields{
			"connections":             s.count(&to.Conns),
			"connections_per_address": s.count(&to.ConnsPerIP),
			"calls_per_party":         s.count(&to.CallsPerPeer),
			"memory_mib": func(n *yaml.Node) error {
				if err := s.mebibytes(&to.Memory)(n); err != nil {
					return err
				}
				if to.Memory < p2p.LeastMemory {
					return s.errorf(n, "want at least %d, not %q: less does not hold the requests of two parties", p2p.LeastMemory>>20, n.Value)
				}
				return nil
			},
		})
	}
}

// mebibytes reads a size, in units of 2²⁰ bytes.
func (s source) mebibytes(to *int64) parser {
	return func(n *yaml.Node) error {
		var count int
		err := s.count(&count)(n)
		*to = int64(count) << 20
		return err
	}
}

// mebibytesOrNone is mebibytes, and takes 0.
func (s source) mebibytesOrNone(to *int64) parser {
	return func(n *yaml.Node) error {
		var count int
		err := s.countFrom(0, &count)(n)
		*to = int64(count) << 20
		return err
	}
}

// count reads a whole number above 0.
func (s source) count(to *int) parser { return s.countFrom(1, to) }

// countFrom reads a whole number of at least so much.
func (s source) countFrom(least int, to *int) parser {
	return func(n *yaml.Node) error {
		var value float64
		if err := s.number(&value)(n); err != nil {
			return err
		}
		if value < float64(least) || value > math.MaxInt32 || value != math.Trunc(value) {
			return s.errorf(n, "want a whole number of at least %d, not %q", least, n.Value)
		}
		*to = int(value)
		return nil
	}
}
