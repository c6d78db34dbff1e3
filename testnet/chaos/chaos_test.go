package chaos

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/testnet/network"
)

// A disturbed study passes the check; one that is not what it must be does not.
func TestRound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs both programs")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*roundDeadline)
	defer cancel()
	dir := t.TempDir()
	must(t, network.Build(ctx, dir))
	port, err := network.FreePort()
	must(t, err)
	between, err := newRelay(ctx, net.JoinHostPort("127.0.0.1", itoa(port)))
	must(t, err)
	defer between.Close()
	s, err := newSite(ctx, dir, between.port(), port, 1<<18)
	must(t, err)
	id, err := s.propose(ctx, 0)
	must(t, err)
	var round Round
	d := disturber{site: s, relay: between, rng: rand.New(rand.NewPCG(3, 0)), round: &round}
	must(t, d.run(ctx, id))
	if round.Kills+round.Pauses+round.Cuts < 3 {
		t.Errorf("hardly disturbed: %+v", round)
	}
	must(t, s.check(ctx, id))

	path := filepath.Join(s.parties[0].StateDir(), "results", id, "result.json")
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

func itoa(n int) string { return strconv.Itoa(n) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRelay(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	r, err := newRelay(t.Context(), listener.Addr().String())
	must(t, err)
	echoes := func() error {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", itoa(r.port())))
		must(t, err)
		defer c.Close()
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_, err = io.ReadFull(c, make([]byte, 1))
		return err
	}
	must(t, echoes())
	held, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", itoa(r.port())))
	must(t, err)
	defer held.Close()
	_, err = held.Write([]byte("x"))
	must(t, err)
	_, err = io.ReadFull(held, make([]byte, 1))
	must(t, err)
	r.Cut()
	if n, err := held.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("an open connection survived the cut")
	}
	if err := echoes(); err == nil {
		t.Error("a new connection came through the cut")
	}
	r.Mend()
	must(t, echoes())
	must(t, r.Close())
}
