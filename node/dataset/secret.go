package dataset

import (
	"fmt"
	"os"
	"strings"

	"github.com/cosketch/cosketch/node/private"
)

// Secret says where something is that no configuration file may hold. Exactly one
// of the two is set.
type Secret struct {
	Env  string // name of an environment variable
	File string // path of a file that nobody else may read, white space around the secret aside
}

// String names the place.
func (s Secret) String() string {
	if s.Env != "" {
		return "environment variable " + s.Env
	}
	return s.File
}

// value fetches the secret.
func (s Secret) value() (string, error) {
	if s.Env != "" {
		value, ok := os.LookupEnv(s.Env)
		if !ok || value == "" {
			return "", fmt.Errorf("reading the data source name: environment variable %s is not set", s.Env)
		}
		return value, nil
	}
	data, err := private.Read(s.File)
	if err != nil {
		return "", fmt.Errorf("reading the data source name: %w", err)
	}
	value := strings.TrimSpace(string(data))
	if value == "" {
		return "", fmt.Errorf("reading the data source name: %s is empty", s.File)
	}
	return value, nil
}
