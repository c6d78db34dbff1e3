package network

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
)

// LearnNames finds out whether the node's program, possibly another build, has earlier names for
// its commands. Run then accepts the names of this build and translates them.
func (n *Node) LearnNames(ctx context.Context) error {
	err := exec.CommandContext(ctx, n.program, "advanced", "--help").Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if n.early = errors.As(err, &exit); err != nil && !n.early {
		return fmt.Errorf("running %s: %w", n.program, err)
	}
	return nil
}

// earlier translates a command line for a program from before some commands were moved under
// advanced.
func earlier(args []string) (out []string) {
	for i, arg := range args {
		switch {
		case arg == "advanced":
		case arg == "host" && i > 0 && args[i-1] == "study":
			out = append(out, "create")
		case arg == "budget" && !slices.Contains(args, "advanced"):
			out = append(out, arg, "show")
		default:
			out = append(out, arg)
		}
	}
	return out
}
