package chaos

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Honest parties finish during an attack, and violations are reported.
func TestAttack(t *testing.T) {
	dir := programsIn(t)
	var log bytes.Buffer
	const studies, peers = 2, 8
	a, err := Attack(t.Context(), AttackOptions{Dir: dir, Peers: peers, Studies: studies, For: 8 * time.Second, Log: &log, Attackers: PlayAttackers})
	if len(a.Loaded) < studies {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if err != nil && !strings.Contains(err.Error(), "beside hostile peers, at most") { // the duration is not tested
		t.Error(err)
	}
	for _, name := range []string{"held calls", "refused post", "silent connections", "slow forms", "pages without a token"} {
		if len(a.Calls[name]) == 0 {
			t.Errorf("nobody tried %s: %v", name, a.Calls)
		}
	}
	var text bytes.Buffer
	must(t, a.Write(&text))
	if !strings.Contains(text.String(), fmt.Sprintf("%d hostile peers for", peers)) {
		t.Errorf("it is told as %s", text.String())
	}

	good := Attacked{Quiet: []float64{1}, Loaded: []float64{2}, Memory: 1, Most: 2, Disk: 1, MostDisk: 2, Pages: map[int]int{200: 5, 503: 1}}
	must(t, good.judge())
	for name, spoil := range map[string]func(*Attacked){
		"slow":   func(a *Attacked) { a.Loaded = []float64{2, 4} },
		"memory": func(a *Attacked) { a.Memory = 3 },
		"disk":   func(a *Attacked) { a.Disk = 3 },
		"pages":  func(a *Attacked) { a.Pages = map[int]int{200: 5, 500: 1} },
		"silent": func(a *Attacked) { a.Pages = nil },
	} {
		bad := good
		spoil(&bad)
		if bad.judge() == nil {
			t.Errorf("%s: nothing is said", name)
		}
	}
}

// A party handles the worst reply to a call within its limits.
func TestReply(t *testing.T) {
	dir := programsIn(t)
	var log bytes.Buffer
	take := func(call, payload string) bool {
		return call == "read" && payload == "empty fields 2" || call == "progress" && payload == "one field 1"
	}
	all, err := Replies(t.Context(), dir, take, &log)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d replies: %v\n%s", len(all), err, log.String())
	}
	for _, bad := range []Reply{{Call: "read"}, {Asked: 1, Memory: partyMemory + 1}, {Asked: 1, Seconds: 2 * partyEnd.Seconds()}} {
		if bad.judge() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
