package chaos

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// A study is finished after its programs were replaced, and a wrong ledger is detected.
func TestUpgrade(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dir := programsIn(t)
	u := upgrader{UpgradeOptions: UpgradeOptions{Dir: dir, Log: io.Discard}}
	same := programs{"same", dir, dir}
	all := states()
	debited := all[slices.IndexFunc(all, func(s state) bool { return s.name == "debited" })]
	must(t, u.try(ctx, debited, way{begin: same, finish: same}))
	if out := u.out[0]; out.Outcome != Whole || !strings.HasPrefix(out.At, "seeded, ") {
		t.Fatalf("the study came to %+v", out)
	}
	if len(u.spent) != 3 || len(u.spent[0].Entries) != 1 {
		t.Fatalf("the ledgers say %+v", u.spent)
	}
	u.spent[0].Entries[0].Epsilon *= 2
	must(t, u.try(ctx, state{name: mixed}, way{begin: same, finish: same, mayRefuse: true}))
	if out := u.out[1]; out.Outcome != Broken || !strings.Contains(out.Why, "the ledger of north says") {
		t.Errorf("with another ledger the study came to %+v", out)
	}
	var told strings.Builder
	must(t, WriteUpgraded(&told, u.out))
	if !strings.Contains(told.String(), "BROKEN") || !strings.Contains(told.String(), "the ledger of north says") {
		t.Errorf("told\n%s", told.String())
	}
}

// An ear hears a text once, also if it is written in pieces.
func TestEar(t *testing.T) {
	e := listen(`"state":"seeded"`)
	heard := func() bool {
		select {
		case <-e.heard:
			return true
		default:
			return false
		}
	}
	for _, said := range []string{`"state":"committed"`, "\n", `{"state":"see`} {
		e.Write([]byte(said))
		if heard() {
			t.Fatalf("heard after %q", said)
		}
	}
	e.Write([]byte("ded\"}\n"))
	e.Write([]byte("\"state\":\"seeded\"\n"))
	if !heard() {
		t.Error("not heard")
	}
}
