package node_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

// An aggregator restored from an old backup reports it, in its status and, when a party has read
// more, in the log. The party is told too.
func TestAggregatorOfAnOldBackup(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	status := func() string {
		st := b.open("agg")
		defer st.Close()
		now, err := console.StudySnapshot(st, b.study.ID)
		check(t, err)
		return now.Restored
	}
	st := b.open("agg")
	var old bytes.Buffer
	_, err := st.Backup(&old)
	check(t, err)
	check(t, st.Close())
	stop := b.serve()
	b.runAll(b.context(), b.parties...)
	stop()
	if said := status(); said != "" {
		t.Errorf("never restored, status says %q", said)
	}
	check(t, os.RemoveAll(b.path("agg")))
	_, err = store.Restore(b.path("agg"), store.Aggregator, &old)
	check(t, err)
	if said := status(); !strings.Contains(said, "was restored from a backup at ") || !strings.Contains(said, "aggregator cancel "+b.study.ID.Short()) {
		t.Errorf("status says %q", said)
	}
	stop = b.serve()
	defer stop()
	party := b.open("a")
	defer party.Close()
	told := 0
	for range 2 {
		for _, f := range local.Diagnose(b.context(), local.DoctorOptions{
			Store: party, Now: now, Studies: []*study.Study{b.study},
			Site: func() (config.Party, error) { return config.LoadParty(b.path("a.yaml")) },
		}) {
			if f.Check == "board" && f.Verdict == local.Fail && strings.Contains(f.Said, "restored from an old backup") {
				told++
			}
		}
	}
	if told != 2 {
		t.Errorf("the party is told %d times of 2", told)
	}
	if n := strings.Count(string(b.logs.Bytes()), "has read more of the board than this aggregator has"); n != 1 {
		t.Errorf("the operator's log says it %d times", n)
	}
}
