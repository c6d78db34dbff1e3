package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Paths is where a node keeps its things.
type Paths struct {
	State  string // directory: identity, releases, ledger, board
	Config string // file: the site file or the configuration file
}

// DefaultPartyPaths returns where a party keeps its things unless it is told
// otherwise: ~/.local/state/cosketch/party and ~/.config/cosketch/party.yaml, by
// the XDG base directories. As a systemd service (StateDirectory=,
// ConfigurationDirectory=) it follows the directories that systemd made, usually
// /var/lib and /etc.
func DefaultPartyPaths() (Paths, error) { return defaultPaths("party") }

// DefaultAggregatorPaths is DefaultPartyPaths for an aggregator.
func DefaultAggregatorPaths() (Paths, error) { return defaultPaths("aggregator") }

// usualFile is the configuration file that is read where no path is given. Where one is, it may
// be nowhere: a service may have no home.
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

// baseDir returns systemd's directory as it is, or the XDG base directory (ignored
// unless absolute, as its specification wants) with cosketch/rest below it.
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
