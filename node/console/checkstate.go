package console

import (
	"context"
	"log/slog"
	"time"

	"github.com/cosketch/cosketch/node/store"
)

// longestCheck bounds how long a node checks its database before it serves.
const longestCheck = 10 * time.Second

// CheckState checks the database of a node that is about to serve. Otherwise damage in pages that
// are rarely read would be found too late. It returns store.ErrDamaged.
func CheckState(ctx context.Context, st *store.Store, logger *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, longestCheck)
	defer cancel()
	whole, err := st.QuickCheck(ctx)
	if err == nil && !whole {
		logger.Warn("the check of the database before serving took too long and was stopped", "seconds", longestCheck.Seconds(), "fix", string(st.Role())+" advanced fsck checks all of it")
	}
	return err
}
