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
		logger.Warn("the database was not looked through to its end before serving, which took too long", "seconds", longestCheck.Seconds(), "fix", string(st.Role())+" advanced fsck looks at all of it")
	}
	return err
}
