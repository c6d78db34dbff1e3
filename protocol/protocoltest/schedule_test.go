package protocoltest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// Random schedules with random adversaries: every invariant holds in each, every role is played,
// and every final state is reached.
func TestRandomSchedules(t *testing.T) {
	for _, seed := range []uint64{8376, 8824} { // regressions
		if _, err := Random(seed); err != nil {
			t.Fatal(err)
		}
	}
	schedules := seeds(300, full.Or[uint64](300, 10_000))
	const workers = 2
	var s Summary
	var mu sync.Mutex
	t.Run("played", func(t *testing.T) {
		for w := range uint64(workers) {
			t.Run(fmt.Sprintf("from %d", w), func(t *testing.T) {
				t.Parallel()
				for seed := w; seed < schedules; seed += workers {
					r, err := Random(seed)
					if err != nil {
						t.Fatal(err)
					}
					mu.Lock()
					s.Add(r)
					mu.Unlock()
				}
			})
		}
	})
	t.Log("\n" + s.String())
	if min(s.Proved, s.Again, s.Late, s.Masked, s.Refused) < 10 || s.Claimed < 2 || s.Crashes < 100 || len(s.Ends) != 2 {
		t.Errorf("the schedules are too tame:\n%s", &s)
	}
	if all := len(Roles(rand.New(rand.NewPCG(1, 1)))); len(s.Played) < all*3/4 {
		t.Errorf("%d of %d roles were played", len(s.Played), all)
	}
}

// Each role has a name of its own and a story of a paragraph.
func TestRolesAreTold(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Roles(rand.New(rand.NewPCG(1, 1))) {
		if names[r.Name] || len(r.Story) < 60 || !strings.HasSuffix(r.Story, ".") {
			t.Errorf("%q: %q", r.Name, r.Story)
		}
		names[r.Name] = true
	}
}
