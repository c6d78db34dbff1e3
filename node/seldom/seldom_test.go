package seldom

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// listen returns a log that a test reads, and a clock that it sets.
func listen(most int) (*Log, *time.Duration, func() []string) {
	var out bytes.Buffer
	now := new(time.Duration)
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return New(slog.New(handler), func() time.Duration { return *now }, time.Minute, most), now, func() []string {
		defer out.Reset()
		return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
	}
}

func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		t.Errorf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// One line a minute for each peer and kind, with a complete count.
func TestSeldom(t *testing.T) {
	log, now, read := listen(10)
	for n := range 10_000 {
		log.Warn("a", "refused", "n", n)
	}
	log.Warn("b", "refused", "n", 0)
	log.Error("a", "failed", "error", errors.New("x"))
	want(t, read(), `level=WARN msg=refused peer=a n=0`, `level=WARN msg=refused peer=b n=0`, `level=ERROR msg=failed peer=a error=x`)
	*now += time.Minute - 1
	log.Warn("a", "refused", "n", 10_000)
	log.Tell()
	want(t, read())
	*now++
	log.Warn("a", "refused", "n", 10_001)
	want(t, read(), `level=WARN msg=refused peer=a n=10001 left_out=10000`)
	log.Warn("a", "refused", "n", 10_002)
	*now += time.Minute
	log.Tell()
	want(t, read(), `level=WARN msg=refused peer=a left_out=1`)
	log.Warn("a", "refused", "n", 10_003)
	log.Warn("a", "refused", "n", 10_004)
	log.Close()
	log.Close()
	want(t, read(), `level=WARN msg=refused peer=a n=10003`, `level=WARN msg=refused peer=a left_out=1`)
}

// A peer with many identities gets no more lines, and memory does not grow.
func TestManyPeers(t *testing.T) {
	log, _, read := listen(3)
	for n := range 1000 {
		log.Warn(fmt.Sprint(n), "refused")
	}
	want(t, read(), `level=WARN msg=refused peer=0`, `level=WARN msg=refused peer=1`, `level=WARN msg=refused peer=2`, `level=WARN msg=refused peer=others`)
	if len(log.said) != 4 {
		t.Errorf("%d are remembered", len(log.said))
	}
	log.Close()
	want(t, read(), `level=WARN msg=refused peer=others left_out=996`)
}
