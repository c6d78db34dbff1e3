package config

import (
	"crypto/x509"
	"os"

	"github.com/cosketch/cosketch/protocol/schema"
)

// Network says how a party reaches aggregators.
type Network struct {
	// Roots certify the outer TLS of WebSocket addresses; nil: the system's. A network whose proxy
	// inspects HTTPS has its own authority.
	Roots *x509.CertPool
}

func readRoots(r *schema.Reader, at schema.Item, n *Network) {
	path := r.Text(at)
	if path == "" {
		return // reported already
	}
	pem, err := os.ReadFile(absolute(r, path))
	if err != nil {
		r.Fail(at.Path, "%v", err).Cause = err
		return
	}
	n.Roots = x509.NewCertPool()
	if !n.Roots.AppendCertsFromPEM(pem) {
		r.Fail(at.Path, "%q holds no certificate in PEM form", path)
	}
}
