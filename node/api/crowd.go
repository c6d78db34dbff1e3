package api

import (
	"net"
	"net/netip"
	"sync"
)

// limiter counts the callers' open places and refuses more than a limit, in total or from one
// address. Loopback addresses have only the total limit: a proxy may be behind them, and so many
// callers.
type limiter struct {
	most, each int // in total; from one address that is not loopback

	mu   sync.Mutex
	all  int
	from map[netip.Prefix]int
}

// newCrowd limits a crowd to most, and one address to most/parts.
func newCrowd(most, parts int) *limiter {
	return &limiter{most: most, each: max(1, most/parts), from: map[netip.Prefix]int{}}
}

// shares returns the divisor for one address's limit: 1 behind a proxy, whose address all callers
// share.
func shares(parts int, proxied bool) int {
	if proxied {
		return 1
	}
	return parts
}

// acquire takes a place for a caller, who must call leave. ok is false if there is none.
func (c *limiter) acquire(remote string) (leave func(), ok bool) {
	at, elsewhere := callerOf(remote)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == c.most || elsewhere && c.from[at] == c.each {
		return nil, false
	}
	c.all++
	if elsewhere {
		c.from[at]++
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		if elsewhere {
			if c.from[at]--; c.from[at] == 0 {
				delete(c.from, at)
			}
		}
	}), true
}

// callerOf is the prefix of an address that belongs to one host: one address of IPv4, 2⁶⁴ of IPv6.
func callerOf(remote string) (at netip.Prefix, elsewhere bool) {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return at, false
	}
	ip, err := netip.ParseAddr(host)
	if ip = ip.Unmap(); err != nil || ip.IsLoopback() {
		return at, false
	}
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	at, err = ip.WithZone("").Prefix(bits)
	return at, err == nil
}
