package console

import (
	"fmt"
	"net"
	"os"
	"strings"
)

// States that a service reports to its manager.
const (
	serviceReady    = "READY=1"
	serviceStopping = "STOPPING=1"
)

// Ready tells the service manager that started this process, if any (systemd's Type=notify), that
// it serves. The returned function tells it that the process is stopping. Failures are only
// printed: the node runs on if the manager does not listen.
func (c *Console) Ready() (stopping func()) {
	tell := func(state string) {
		if err := notify(os.Getenv("NOTIFY_SOCKET"), state); err != nil {
			c.Say("the service manager cannot be told %s: %v", state, err)
		}
	}
	tell(serviceReady)
	return func() { tell(serviceStopping) }
}

// notify sends one datagram. A name that begins with @ is in the abstract namespace.
func notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	if name, abstract := strings.CutPrefix(socket, "@"); abstract {
		socket = "\x00" + name
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notifying: %w", err)
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}
