package p2p

import (
	"context"
	"log/slog"
)

// warnings passes libp2p's lines from level warning up. If the underlying handler accepts debug, it
// passes every line that handler accepts.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return w.Handler.Enabled(ctx, level) && (level >= slog.LevelWarn || w.Handler.Enabled(ctx, slog.LevelDebug))
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler {
	return warnings{w.Handler.WithGroup(name)}
}

// Handle drops two kinds of lines unless debug is on. In the first, libp2p repeats in its own words
// why it does not start, which New returns. The second says that a peer left at once, which
// strangers can cause at will while they are admitted as guests.
func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	switch r.Message {
	case "listening failed", "OnStart hook failed", "start failed, rolling back", "start failed", "failed to identify peer":
		if !w.Handler.Enabled(ctx, slog.LevelDebug) {
			return nil
		}
	}
	return w.Handler.Handle(ctx, r)
}
