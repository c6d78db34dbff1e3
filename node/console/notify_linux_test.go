package console

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotifyReachesTheManager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	for _, name := range []string{path, "@cosketch" + strings.ReplaceAll(path, "/", "-")} {
		address := name
		if rest, abstract := strings.CutPrefix(name, "@"); abstract {
			address = "\x00" + rest
		}
		manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer manager.Close()
		t.Setenv("NOTIFY_SOCKET", name)
		c := &Console{Err: t.Output()}
		c.Ready()()
		buffer := make([]byte, 64)
		for _, want := range []string{serviceReady, serviceStopping} {
			n, err := manager.Read(buffer)
			if err != nil || string(buffer[:n]) != want {
				t.Errorf("%s: got %q, %v, want %q", name, buffer[:n], err, want)
			}
		}
	}
}
