package config

import "log/slog"

// Log says what a node logs, and how.
type Log struct {
	Level  slog.Level // default: info
	Format LogFormat  // default: LogAuto
}

// LogFormat names the form of log lines.
type LogFormat string

const (
	LogAuto LogFormat = ""     // text on a terminal, JSON otherwise
	LogText LogFormat = "text" // key=value
	LogJSON LogFormat = "json" // one JSON object a line
)
