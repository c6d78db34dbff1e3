// Package network builds the two programs and runs one aggregator and its parties as processes of
// this machine, each with its own directory. On Linux they end with the testnet, also when it is
// killed.
package network

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cosketch/cosketch/testnet/tree"
)

// module is the module that contains the programs.
const module = "github.com/cosketch/cosketch"

// Build compiles both programs into dir. It works from any directory within the module, or within a
// module that requires it.
func Build(ctx context.Context, dir string) error {
	root, err := sources(ctx)
	if err != nil {
		return err
	}
	return buildIn(ctx, root, dir)
}

// BuildCommit compiles both programs into dir, as they were at a commit of the module's repository.
func BuildCommit(ctx context.Context, commit, dir string) error {
	root, err := sources(ctx)
	if err != nil {
		return err
	}
	return tree.At(ctx, root, commit, func(sources string) error { return buildIn(ctx, sources, dir) })
}

// sources returns the module's directory.
func sources(ctx context.Context) (string, error) {
	root, err := run(command(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module), "go", new(talk))
	if err != nil {
		return "", fmt.Errorf("building the programs: run this in a directory of the module github.com/cosketch/cosketch: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}

// buildIn compiles both programs from the sources in a directory. It uses go run, which caches the
// linked program, as go build does not. The -exec flag makes go run call cp with the program,
// instead of running it, and cp copies it to dir.
func buildIn(ctx context.Context, sources, dir string) error {
	for _, program := range []string{"party", "aggregator"} {
		to := filepath.Join(dir, Executable(program))
		cmd := command(ctx, "go", "run", "-exec", "cp -f", "./cmd/"+program, to)
		if runtime.GOOS == "windows" { // Windows has no cp
			cmd = command(ctx, "go", "build", "-o", to, "./cmd/"+program)
		}
		cmd.Dir = sources
		if _, err := run(cmd, "go", new(talk)); err != nil {
			return err
		}
	}
	return nil
}

// Executable returns the file name of a program on this system.
func Executable(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// Loopback returns the multiaddr of a port on this machine.
func Loopback(port int) string { return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port) }

// startTimeout is the timeout for the aggregator to listen.
const startTimeout = 20 * time.Second

// Await waits until a port of the loopback interface accepts connections.
func Await(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the aggregator at port %d: %w", port, ctx.Err())
		}
	}
}

// FreePort returns a loopback port that nobody listens at. It is below the range from which systems
// take the ports of outgoing connections, so that none of these can take it before the aggregator
// does.
func FreePort() (int, error) {
	const tries = 100
	for range tries {
		port := 20000 + rand.IntN(10000)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("looking for a free port: none of %d tried on 127.0.0.1 is", tries)
}

// WriteSiteFile replaces a party's configuration.
func WriteSiteFile(n *Node, content []byte) error {
	if err := os.WriteFile(n.SiteFile(), content, 0o600); err != nil {
		return fmt.Errorf("writing the site file of %s: %w", n.Name, err)
	}
	return nil
}
