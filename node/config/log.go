package config

import "log/slog"

// Log configures a node's log.
type Log struct {
	Level  slog.Level // default: info
	Format LogFormat  // default: LogAuto
}

// LogFormat names the form of log lines.
type LogFormat string

const (
	LogAuto LogFormat = ""     // text on a terminal, JSON otherwise
	LogText LogFormat = "text" // key=value
	LogJSON LogFormat = "json" // one JSON object per line
)
