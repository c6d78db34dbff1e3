package drive

import (
	"testing"

	"github.com/cosketch/cosketch/protocol/session"
)

// An aggregator's machine must not ask for records or jobs of a party.
func TestForeignEffects(t *testing.T) {
	a := &Aggregator{}
	for name, effects := range map[string]session.Effects{
		"record": {Persist: []session.Record{session.DestroySecrets{}}},
		"job":    {Run: []session.Job{session.Upload{}}},
	} {
		if _, err := a.perform(effects); err == nil {
			t.Errorf("a foreign %s is carried out", name)
		}
	}
}
