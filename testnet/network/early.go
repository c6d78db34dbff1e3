package network

import (
	"context"
	"os/exec"
	"slices"
)

// LearnNames finds out what the node's program calls its commands, for a program of another build. Run then takes
// the names of this build all the same.
func (n *Node) LearnNames(ctx context.Context) error {
	err := exec.CommandContext(ctx, n.program, "advanced", "--help").Run()
	n.early = err != nil
	return ctx.Err()
}

// earlier is a command line for a program from before some commands were put under advanced.
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
