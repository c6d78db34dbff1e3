package p2p

import (
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/x/rate"
)

// ownStreams is how many streams of a peer libp2p's identify may use in addition to calls.
const ownStreams = 16

// window is the memory that yamux reserves for a new stream.
const window = 256 << 10

// resourceManager converts limits to libp2p's. Nothing is derived from the machine, since a
// container may not have its memory. Only peers that the gater admitted leave the transient scope.
// Doors count the connections in that scope, in addition to the admitted ones, so that strangers
// never take a party's place.
func resourceManager(l Limits, guests *guestLimiter, now func() time.Time) (network.ResourceManager, error) {
	count := func(n int) rcmgr.LimitVal { return rcmgr.LimitVal(n) }
	streams := 2 * (l.CallsPerPeer + ownStreams) // in and out
	limits := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{
			Conns:  count(l.Conns + mostGuests + 2*l.unfinished()), // by TCP and by QUIC
			FD:     count(l.Conns + mostGuests + l.unfinished()),
			Memory: rcmgr.LimitVal64(l.windows()),
		},
		Transient: rcmgr.ResourceLimits{
			Memory: rcmgr.LimitVal64(l.windows() / 2),
		},
		PeerDefault: rcmgr.ResourceLimits{
			Conns:          count(8),
			Streams:        count(2 * streams),
			StreamsInbound: count(streams),
			Memory:         rcmgr.LimitVal64(l.windows() / 2),
		},
	}
	manager, err := rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(limits.Build(rcmgr.InfiniteLimits)),
		rcmgr.WithMetricsDisabled(),
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: bits4, ConnCount: l.ConnsPerIP}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: bits6, ConnCount: l.ConnsPerIP}},
		),
		rcmgr.WithConnRateLimiters(connRate(l)),
	)
	if err != nil {
		return nil, err
	}
	return limitedResources{
		ResourceManager: manager,
		packets:         newDoor(l.unfinished(), l.unfinishedPerIP(), guests, now),
		inbound:         newRation[peer.ID](l.windows() / 2 / window), // the other half is for windows to grow
		gate:            guests.gate,
		guests:          &fairShare[peer.ID]{free: l.windows() / 8 / window, most: guestStreams, held: make(map[peer.ID]int64)},
	}, nil
}

// connRate allows a burst of ConnsPerIP new connections per address, which refills within a minute.
// Loopback is exempt.
func connRate(l Limits) *rate.Limiter {
	perAddress := rate.Limit{RPS: float64(l.ConnsPerIP) / 60, Burst: l.ConnsPerIP}
	return &rate.Limiter{
		NetworkPrefixLimits: []rate.PrefixLimit{
			{Prefix: netip.MustParsePrefix("127.0.0.0/8")},
			{Prefix: netip.MustParsePrefix("::1/128")},
		},
		SubnetRateLimiter: rate.SubnetLimiter{
			IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: bits4, Limit: perAddress}},
			IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: bits6, Limit: perAddress}},
			GracePeriod:      time.Minute,
		},
	}
}
