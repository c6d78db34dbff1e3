package standing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Ask runs a node's program on the node's own state, as its steward or operator would, and returns
// the exit code. If in is a terminal, the program can ask questions there.
func Ask(ctx context.Context, d Dir, name string, args []string, in *os.File, out, talk io.Writer) (int, error) {
	about, err := d.Read()
	if err != nil {
		return 0, err
	}
	t, err := about.template()
	if err != nil {
		return 0, err
	}
	if err := known(name, t); err != nil {
		return 0, err
	}
	dir := d.nodeDir(name)
	own := []string{"--state", filepath.Join(dir, "state"), "--config", filepath.Join(dir, "site.yaml")}
	cmd := exec.CommandContext(ctx, d.Program(name), append(own, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, talk
	cmd.Cancel = func() error { return nil } // Ctrl-C reaches the program too, which ends by itself
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() >= 0 {
		return ended.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("asking %s: %w", name, err)
	}
	return 0, nil
}
