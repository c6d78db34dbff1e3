package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Paths are the paths of a node's state and configuration.
type Paths struct {
	State  string // directory: identity, releases, ledger, board
	Config string // file: the site file or the configuration file
}

// DefaultPartyPaths returns a party's default paths: ~/.local/state/cosketch/party and
// ~/.config/cosketch/party.yaml, by the XDG base directories. In a systemd service
// (StateDirectory=, ConfigurationDirectory=) they are the directories that systemd made, usually
// below /var/lib and /etc.
func DefaultPartyPaths() (Paths, error) { return defaultPaths("party") }

// DefaultAggregatorPaths is DefaultPartyPaths for an aggregator.
func DefaultAggregatorPaths() (Paths, error) { return defaultPaths("aggregator") }

// usualFile is the configuration file read if path is empty. If path is not empty, the default may
// not exist: a service may have no home.
func usualFile(path string, usual func() (Paths, error)) (string, error) {
	paths, err := usual()
	if err != nil && path != "" {
		return "", nil
	}
	return paths.Config, err
}

func defaultPaths(role string) (Paths, error) {
	state, err := baseDir("STATE_DIRECTORY", "XDG_STATE_HOME", filepath.Join(".local", "state"), role)
	if err != nil {
		return Paths{}, err
	}
	dir, err := baseDir("CONFIGURATION_DIRECTORY", "XDG_CONFIG_HOME", ".config", "")
	if err != nil {
		return Paths{}, err
	}
	return Paths{State: state, Config: filepath.Join(dir, role+".yaml")}, nil
}

// baseDir returns systemd's directory as it is, or cosketch/rest below the XDG base directory,
// which is ignored unless absolute, as its specification requires.
func baseDir(systemd, xdg, underHome, rest string) (string, error) {
	if dirs := os.Getenv(systemd); dirs != "" {
		first, _, _ := strings.Cut(dirs, ":")
		return first, nil
	}
	base := os.Getenv(xdg)
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the home directory: %w (set HOME or %s)", err, xdg)
		}
		base = filepath.Join(home, underHome)
	}
	return filepath.Join(base, "cosketch", rest), nil
}
