package p2p

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// fairShare divides a limited resource between peers. A peer may hold at most as much as remains free
// for others: one peer at most half of all, two at most a third each, and so on. The number of
// peers need not be known.
type fairShare[P comparable] struct {
	most int64 // limit of one peer; 0: only the free amount limits it

	mu   sync.Mutex
	free int64
	held map[P]int64
}

func newRation[P comparable](all int64) *fairShare[P] {
	return &fairShare[P]{free: all, held: make(map[P]int64)}
}

// acquire allocates n to a peer and reports whether it could.
func (r *fairShare[P]) acquire(who P, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[who]+n > r.free-n || r.most > 0 && r.held[who]+n > r.most {
		return false
	}
	r.free -= n
	r.held[who] += n
	return true
}

// release returns n of a peer's allocation.
func (r *fairShare[P]) release(who P, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += n
	if r.held[who] -= n; r.held[who] == 0 {
		delete(r.held, who)
	}
}

// rationed is the scope of a peer's stream; Done also returns its share.
type rationed struct {
	network.StreamManagementScope
	giveBack func()
}

// Done is called when the stream has ended.
func (r rationed) Done() {
	r.StreamManagementScope.Done()
	r.giveBack()
}

// OpenStream creates the scope of a stream. Incoming streams are divided between parties, and
// separately between guests.
func (w limitedResources) OpenStream(id peer.ID, dir network.Direction) (network.StreamManagementScope, error) {
	scope, err := w.ResourceManager.OpenStream(id, dir)
	if err != nil || dir == network.DirOutbound {
		return scope, err
	}
	share := w.inbound
	if _, who := w.gate.rank(id); who == guest {
		share = w.guests
	}
	if !share.acquire(id, 1) {
		scope.Done()
		return nil, network.ErrResourceLimitExceeded
	}
	return rationed{scope, sync.OnceFunc(func() { share.release(id, 1) })}, nil
}
