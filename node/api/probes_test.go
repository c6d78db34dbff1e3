package api

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Anybody may ask whether the node is ready; the reason why it is not is logged once a minute.
func TestNotReadyIsLoggedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.down = errors.New("the disk is full")
		var log strings.Builder
		s, _ := newServer(t, f, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		for range 150 {
			if w := ask(s, "/readyz", nil); w.Code != http.StatusServiceUnavailable {
				t.Fatalf("%d", w.Code)
			}
			<-time.After(time.Second)
		}
		if n := strings.Count(log.String(), "the disk is full"); n != 3 {
			t.Errorf("logged %d times in 150 seconds:\n%s", n, log.String())
		}
	})
}
