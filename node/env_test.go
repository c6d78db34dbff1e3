package node_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/event"
)

// An environment with a clock is completed by defaults; what the caller set stays.
func TestEnvHasDefaults(t *testing.T) {
	e := node.PartyEnv{Now: now}.OrDefaults()
	if e.Now == nil || e.Entropy == nil || e.Log == nil || e.Workers < 1 || e.Version == "" {
		t.Errorf("got %+v", e)
	}
	e.Observe(event.Progress{})
	entropy, log, told := bytes.NewReader(nil), slog.New(slog.DiscardHandler), 0
	e = node.PartyEnv{Now: now, Entropy: entropy, Log: log, Observe: func(event.Progress) { told++ }, Workers: 3, Version: "1"}.OrDefaults()
	e.Observe(event.Progress{})
	if e.Entropy != entropy || e.Log != log || told != 1 || e.Workers != 3 || e.Version != "1" {
		t.Errorf("got %+v, told %d times", e, told)
	}
}
