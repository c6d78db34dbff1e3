package config

import (
	"log/slog"

	"go.yaml.in/yaml/v4"
)

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

func (l *Log) parse(s source) parser {
	return func(n *yaml.Node) error {
		return s.fields(n, fields{
			"level": func(n *yaml.Node) error {
				level, err := s.choice(n, "debug", "info", "warn", "error")
				if err != nil {
					return err
				}
				return l.Level.UnmarshalText([]byte(level))
			},
			"format": func(n *yaml.Node) error {
				format, err := s.choice(n, string(LogText), string(LogJSON))
				l.Format = LogFormat(format)
				return err
			},
		})
	}
}
