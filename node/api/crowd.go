package api

import (
	"net"
	"net/netip"
	"sync"
)

// crowd counts what callers occupy, and refuses what would be too much: in all, or from one
// address. The addresses of the loopback interface have no bound of their own: behind them
// may be a proxy, and so many callers.
type crowd struct {
	most, each int // in all, from one address elsewhere

	mu   sync.Mutex
	all  int
	from map[netip.Prefix]int
}

// newCrowd bounds a crowd, and what one address may have to a part of it.
func newCrowd(most, parts int) *crowd {
	return &crowd{most: most, each: max(1, most/parts), from: map[netip.Prefix]int{}}
}

// shares is into how many parts a crowd is divided by address: behind a proxy, whose address
// is everybody's, into none.
func shares(parts int, proxied bool) int {
	if proxied {
		return 1
	}
	return parts
}

// enter takes a place for a caller, who leaves it once; ok is false where there is none.
func (c *crowd) enter(remote string) (leave func(), ok bool) {
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

// callerOf is whom an address belongs to: a host has one of IPv4, and 2⁶⁴ of IPv6.
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
