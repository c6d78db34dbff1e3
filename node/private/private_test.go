package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode := range fs.FileMode(0o1000) {
		if mode&0o400 == 0 {
			continue // its owner cannot read it, except root
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadOfGroup(path); (mode&0o037 == 0) == errors.Is(err, ErrOpen) && runtime.GOOS != "windows" {
			t.Errorf("mode %04o, which a group may read: %v", mode, err)
		}
		text, err := Read(path)
		if mode&0o077 == 0 || runtime.GOOS == "windows" {
			if err != nil || string(text) != "secret" {
				t.Errorf("mode %04o: %q, %v", mode, text, err)
			}
			continue
		}
		if !errors.Is(err, ErrOpen) || !strings.Contains(err.Error(), "run `chmod go= "+path+"`") || text != nil {
			t.Errorf("mode %04o: %q, %v", mode, text, err)
		}
	}
}
