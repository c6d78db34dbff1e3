package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// At calls do with a working tree of a commit of a repository, and removes the tree afterwards.
func At(ctx context.Context, root, commit string, do func(dir string) error) (err error) {
	home, err := os.MkdirTemp("", "cosketch-commit-")
	if err != nil {
		return fmt.Errorf("making a directory for commit %q: %w", commit, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	hash, err := git(ctx, root, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return fmt.Errorf("looking for commit %q: %w", commit, err)
	}
	dir := filepath.Join(home, "tree")
	if _, err := git(ctx, root, "worktree", "add", "--quiet", "--detach", dir, hash); err != nil {
		return fmt.Errorf("checking out commit %q: %w", commit, err)
	}
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // also if ctx has ended
		defer cancel()
		_, failed := git(after, root, "worktree", "remove", "--force", dir)
		err = errors.Join(err, failed)
	}()
	return do(dir)
}

// git runs a git command in a directory and returns its output.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running git %s: %w\n%s", args[0], err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
