package figures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// OfCommit counts the code of another commit of a repository, in a working tree that it removes.
func OfCommit(ctx context.Context, root, commit string, study bool) (out []Section, err error) {
	dir, err := os.MkdirTemp("", "cosketch-figures-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for commit %s: %w", commit, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree := filepath.Join(dir, "tree")
	if err := command(ctx, root, "git", "worktree", "add", "--quiet", "--detach", tree, commit+"^{commit}"); err != nil {
		return nil, fmt.Errorf("checking out commit %q: %w", commit, err)
	}
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // whatever ended the count
		defer cancel()
		err = errors.Join(err, command(after, root, "git", "worktree", "remove", "--force", tree))
	}()
	return Of(ctx, tree, study)
}
