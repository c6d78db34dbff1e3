package chaos

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/testnet/network"
)

// A disturbed study passes the check; a manipulated one does not.
func TestRound(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*roundDeadline)
	defer cancel()
	dir := programsIn(t)
	scene, err := laboratories(1 << 18)
	must(t, err)
	s, between, err := relayed(ctx, dir, dir, scene)
	must(t, err)
	defer between.Close()
	id, err := s.propose(ctx)
	must(t, err)
	var round Round
	d := disturber{site: s, relay: between, rng: rand.New(rand.NewPCG(3, 0)), round: &round}
	must(t, d.run(ctx, id))
	if round.Kills+round.Pauses+round.Cuts < 3 {
		t.Errorf("hardly disturbed: %+v", round)
	}
	must(t, s.check(ctx, id))

	path := filepath.Join(s.Parties[0].StateDir(), "results", id, "result.json")
	raw, err := os.ReadFile(path)
	must(t, err)
	changed := strings.Replace(string(raw), `"completeness": "full"`, `"completeness": "partial"`, 1)
	if changed == string(raw) {
		t.Fatal("the test does not know the result's form")
	}
	must(t, os.WriteFile(path, []byte(changed), 0o600))
	if err := s.check(ctx, id); err == nil || !strings.Contains(err.Error(), "is not what the stored releases give") {
		t.Errorf("another result: %v", err)
	}
	must(t, os.WriteFile(path, raw, 0o600))
	s.ids = append(s.ids, id)
	if err := s.check(ctx, id); err == nil || !strings.Contains(err.Error(), "the ledger of north has 1 entries") {
		t.Errorf("a study that was never debited: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// built builds both programs, once for all tests, in a directory that TestMain removes.
var built func() (dir string, err error)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cosketch-chaos-")
	if err != nil {
		panic(err)
	}
	built = sync.OnceValues(func() (string, error) { return dir, network.Build(context.Background(), dir) })
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// programsIn returns a directory of the test with both programs in it.
func programsIn(t *testing.T) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs both programs")
	}
	from, err := built()
	must(t, err)
	dir = t.TempDir()
	files, err := os.ReadDir(from)
	must(t, err)
	for _, f := range files {
		must(t, os.Link(filepath.Join(from, f.Name()), filepath.Join(dir, f.Name())))
	}
	return dir
}
