package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cosketch/cosketch/node/private"
)

// Secret says where to find a secret, which must not be in a configuration file. Exactly one of the
// fields is set.
type Secret struct {
	Env  string // name of an environment variable
	File string // path of a file that nobody else may read; white space around the secret is ignored
}

// String names the place, not the secret.
func (s Secret) String() string {
	if s.Env != "" {
		return "environment variable " + s.Env
	}
	return s.File
}

// value reads the secret.
func (s Secret) value() (string, error) {
	if s.Env != "" {
		value, ok := os.LookupEnv(s.Env)
		if !ok || value == "" {
			return "", s.fail("the variable is not set", "set it to the data source name; for a service, in the environment of its unit")
		}
		return value, nil
	}
	data, err := private.Read(s.File)
	if errors.Is(err, private.ErrOpen) {
		return "", s.fail("the file is open to other users", fmt.Sprintf("run `chmod go= %s`", s.File))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", s.fail("no such file", "write the data source name into it")
	}
	if err != nil {
		return "", fileError(s.File, "the data source name cannot be read", err)
	}
	value := strings.TrimSpace(string(data))
	if value == "" {
		return "", s.fail("the file is empty", "write the data source name into it")
	}
	return value, nil
}

func (s Secret) fail(message, hint string) error {
	return &Error{File: s.String(), Message: message, Hint: hint}
}
