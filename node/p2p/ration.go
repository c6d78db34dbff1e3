package p2p

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// ration divides something that there is only so much of between peers. Whatever a peer holds,
// as much is left for the others: one peer may have half of all, two a third each, and so on,
// without anybody having to know how many there are.
type ration[P comparable] struct {
	most int64 // that one peer may have; 0: what the others leave

	mu   sync.Mutex
	free int64
	held map[P]int64
}

func newRation[P comparable](all int64) *ration[P] {
	return &ration[P]{free: all, held: make(map[P]int64)}
}

// take gives a peer n, and reports whether it could.
func (r *ration[P]) take(who P, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[who]+n > r.free-n || r.most > 0 && r.held[who]+n > r.most {
		return false
	}
	r.free -= n
	r.held[who] += n
	return true
}

// give takes back n of what a peer holds.
func (r *ration[P]) give(who P, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += n
	if r.held[who] -= n; r.held[who] == 0 {
		delete(r.held, who)
	}
}

// rationed is the scope of a peer's stream, which it gives back at its end.
type rationed struct {
	network.StreamManagementScope
	giveBack func()
}

// Done is called when the stream has ended.
func (r rationed) Done() {
	r.StreamManagementScope.Done()
	r.giveBack()
}

// OpenStream makes the scope of a stream; peers share those that they open, and guests have a share of their own.
func (w watched) OpenStream(id peer.ID, dir network.Direction) (network.StreamManagementScope, error) {
	scope, err := w.ResourceManager.OpenStream(id, dir)
	if err != nil || dir == network.DirOutbound {
		return scope, err
	}
	share := w.inbound
	if _, who := w.gate.rank(id); who == guest {
		share = w.guests
	}
	if !share.take(id, 1) {
		scope.Done()
		return nil, network.ErrResourceLimitExceeded
	}
	return rationed{scope, sync.OnceFunc(func() { share.give(id, 1) })}, nil
}
