package p2p

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/cosketch/cosketch/node/socket"
	"github.com/cosketch/cosketch/protocol/fail"
)

// Errors of dialling and listening, worded so that they say what to check.

// Why an address could not be connected to. Errors that wrap one of these also wrap ErrUnreachable.
var (
	// ErrWrongPeer reports that something other than the peer listens at an address: another
	// program, or another node.
	ErrWrongPeer error = fail.Stranger

	// ErrDates reports certificates that one of the two clocks finds expired or not yet valid.
	ErrDates error = fail.CertificateDates

	// ErrUncertified reports an outer TLS, such as a proxy's, whose certificate no authority that
	// this machine trusts has issued.
	ErrUncertified error = fail.Uncertified
)

// dialError lists on one line every address that was tried, with its error. If none was tried, it
// names the hosts that could not be resolved.
func dialError(err error, addrs []ma.Multiaddr) error {
	var dial *swarm.DialError
	if !errors.As(err, &dial) || len(dial.DialErrors) == 0 {
		var names []string
		for _, addr := range addrs {
			if name := hostName(addr); name != "" {
				names = append(names, name)
			}
		}
		if names != nil && errors.Is(err, swarm.ErrNoGoodAddresses) {
			return fail.Unreachable.Of(fmt.Errorf("no address is found for the name %s", strings.Join(names, ", "))).With("is it spelled right, and known to this network?")
		}
		if errors.Is(err, swarm.ErrDialToSelf) {
			return fail.Unreachable.Of(errors.New("that is this node's own peer id")).With("the address ends with that of the node to be called")
		}
		return fail.Unreachable.Of(err).With(isItOpen)
	}
	var kinds []error
	tried := make([]string, len(dial.DialErrors))
	for i, e := range dial.DialErrors {
		text, kind := dialCause(e.Cause)
		tried[i] = fmt.Sprintf("%s: %s", e.Address, text)
		if kind != nil {
			kinds = append(kinds, kind)
		}
	}
	failed := &undialled{kinds: kinds, text: strings.Join(tried, "; ")}
	if slices.Contains(kinds, ErrWrongPeer) {
		return fail.Unreachable.Of(fail.Stranger.Of(failed)).With("")
	}
	return fail.Unreachable.Of(failed).With(isItOpen)
}

// isItOpen is the hint if no address answers for an unknown reason.
const isItOpen = "is it serving, and is the address right and open?"

// undialled is the text of a failed dial, with the kinds of errors in it.
type undialled struct {
	kinds []error
	text  string
}

func (u *undialled) Error() string   { return u.text }
func (u *undialled) Unwrap() []error { return u.kinds }

// securing is the prefix of libp2p's errors between the first byte and the proof of the peer's
// identity.
const securing = "failed to negotiate security protocol: "

// badCertificate is the alert of a peer that refuses a certificate: RFC 8446, section 6.2.
const badCertificate = 42

// dialCause returns a text for the error of one address, and its kind, which is one of the above or
// nil. Only dialCause looks into error texts. It must: libp2p reports neither how far it came nor
// what is wrong with a certificate, and crypto/tls does not export the type of the alert that the
// other side sent. Texts of the standard library are taken from its types.
func dialCause(err error) (text string, kind error) {
	var mismatch sec.ErrPeerIDMismatch
	var invalid x509.CertificateInvalidError
	var uncertified *tls.CertificateVerificationError
	met := strings.HasPrefix(err.Error(), securing)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired: // of a proxy
		return fail.CertificateDates.New().Error(), ErrDates
	case errors.As(err, &uncertified): // libp2p verifies its own certificates differently
		return printable(err.Error()), ErrUncertified
	case strings.Contains(err.Error(), x509.CertificateInvalidError{Reason: x509.Expired}.Error()), strings.Contains(err.Error(), tls.AlertError(badCertificate).Error()):
		return fail.CertificateDates.New().Error(), ErrDates
	case errors.As(err, &mismatch):
		return "another node listens there, " + mismatch.Actual.String(), ErrWrongPeer
	case fail.Errno(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens there", nil
	case met && (timedOut(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)):
		return "the program that listens there accepts the connection and does not answer", ErrWrongPeer
	case met && (fail.Errno(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)):
		return "the program that listens there closed the connection at once", nil
	case met:
		return "the program that listens there is not a node of a study", ErrWrongPeer
	}
	return printable(err.Error()), nil
}

// listenError explains why a node cannot listen. libp2p returns only text, so each address is tried
// once more to learn the cause.
func listenError(want []string, err error) error {
	for _, addr := range want {
		parsed, bad := ma.NewMultiaddr(addr)
		if bad != nil {
			return fmt.Errorf("listening at %s: not a multiaddr such as /ip4/0.0.0.0/tcp/7424%s", strings.Join(want, ", "), multiaddrOf(want))
		}
		if cause := tryListening(parsed); cause != nil {
			return listenCause(want, cause, err)
		}
	}
	return err
}

// tryListening listens at the TCP port of an address and stops again.
func tryListening(addr ma.Multiaddr) error {
	below, _ := ma.SplitFunc(addr, func(c ma.Component) bool { return c.Protocol().Code == ma.P_WS || c.Protocol().Code == ma.P_TLS })
	network, host, err := manet.DialArgs(below)
	if err != nil {
		return nil // libp2p's own error explains it
	}
	l, err := net.Listen(network, host)
	if err != nil {
		return err
	}
	return l.Close()
}

// listenCause describes why the system refused to listen.
func listenCause(want []string, cause, err error) error {
	why, known := socket.Refused(cause)
	var unknown *net.DNSError
	switch {
	case !known:
		return err
	case fail.Errno(cause, syscall.EADDRNOTAVAIL):
		why += "; /ip4/0.0.0.0/tcp/7424 listens at all that it has"
	case errors.As(cause, &unknown):
		why += "; listen at an address of its own, or at all that it has with /ip4/0.0.0.0/tcp/7424 (a name that parties dial belongs into the study file, under aggregator: addrs)"
	}
	return fmt.Errorf("listening at %s: %s", strings.Join(want, ", "), why)
}

// multiaddrOf suggests the multiaddr for an address of the form host:port.
func multiaddrOf(want []string) string {
	for _, addr := range want {
		host, port, err := net.SplitHostPort(addr)
		ip := net.ParseIP(host)
		switch {
		case err != nil || ip == nil:
		case ip.To4() != nil:
			return fmt.Sprintf(" (%s is /ip4/%s/tcp/%s)", addr, host, port)
		default:
			return fmt.Sprintf(" (%s is /ip6/%s/tcp/%s)", addr, host, port)
		}
	}
	return ""
}
