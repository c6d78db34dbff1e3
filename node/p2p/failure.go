package p2p

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// What dialling and listening fail of, in words that say what to look at.

// ErrStranger reports an address at which something listens that is not the peer: the
// port of another program, or of another node. Errors that wrap it wrap ErrUnreachable, too.
var ErrStranger = errors.New("somebody else listens there")

// dialError puts every address that was tried and what became of it on one line. Where none
// was, it names the hosts that no address was found for.
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
			return fmt.Errorf("%w: no address is found for the name %s (is it spelled right, and known to this network?)", ErrUnreachable, strings.Join(names, ", "))
		}
		if errors.Is(err, swarm.ErrDialToSelf) {
			return fmt.Errorf("%w: that is this node's own peer id (the address ends with that of the node to be called)", ErrUnreachable)
		}
		return fmt.Errorf("%w: %w (is it serving, and is the address right and open?)", ErrUnreachable, err)
	}
	strange := false
	tried := make([]string, len(dial.DialErrors))
	for i, e := range dial.DialErrors {
		text, stranger := dialCause(e.Cause)
		tried[i], strange = fmt.Sprintf("%s: %s", e.Address, text), strange || stranger
	}
	all := strings.Join(tried, "; ")
	if strange {
		return fmt.Errorf("%w: %w: %s (are port and peer id right? ask the operator at which addresses it serves)", ErrUnreachable, ErrStranger, all)
	}
	return fmt.Errorf("%w: %s (is it serving, and is the address right and open?)", ErrUnreachable, all)
}

// securing is how libp2p begins what went wrong between the first byte and the proof of
// the peer's identity.
const securing = "failed to negotiate security protocol: "

// dialCause says what became of one address, and whether somebody else listens there.
func dialCause(err error) (text string, stranger bool) {
	var mismatch sec.ErrPeerIDMismatch
	met := strings.HasPrefix(err.Error(), securing)
	switch {
	case strings.Contains(err.Error(), "expired or is not yet valid"), strings.Contains(err.Error(), "tls: bad certificate"):
		return "the certificates' dates do not fit (does this clock, or theirs, differ by an hour or more? let a time service set it, such as timedatectl set-ntp true)", false
	case errors.As(err, &mismatch):
		return "another node listens there, " + mismatch.Actual.String(), true
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens there", false
	case met && (timedOut(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)):
		return "what listens there takes the connection and says nothing", true
	case met && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)):
		return "what listens there closed the connection at once", false
	case met:
		return "what listens there is no node of a study", true
	}
	return printable(err.Error()), false
}

// listenError says why a node cannot listen.
func listenError(want []string, err error) error {
	where := strings.Join(want, ", ")
	switch text := err.Error(); {
	case errors.Is(err, syscall.EADDRINUSE), strings.Contains(text, "address already in use"):
		return fmt.Errorf("listening at %s: address already in use: another program, or this node in another process, listens there; stop it or choose another address", where)
	case strings.Contains(text, "cannot assign requested address"):
		return fmt.Errorf("listening at %s: this machine has no such address; /ip4/0.0.0.0/tcp/7424 listens at all that it has", where)
	case strings.Contains(text, "must begin with /"), strings.Contains(text, "failed to parse multiaddr"):
		return fmt.Errorf("listening at %s: not a multiaddr such as /ip4/0.0.0.0/tcp/7424%s", where, multiaddrOf(want))
	case strings.Contains(text, "permission denied"):
		return fmt.Errorf("listening at %s: ports below 1024 are not for this user; choose a higher one: %w", where, err)
	}
	return err
}

// multiaddrOf suggests how a host and port is written.
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
