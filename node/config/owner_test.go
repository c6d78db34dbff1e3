package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
)

// If root replaced a site file, the user that serves with it could not read it any more.
func TestRootLeavesFilesOfOthersAlone(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "party.yaml")
	const before = "datasets:\n  a: {source: x}\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	err := SetCap(path, "a", dp.Record, Budget{2, 1e-6})
	if err == nil || !strings.Contains(err.Error(), "belongs to user 4711") || !strings.Contains(err.Error(), "sudo -u '#4711'") {
		t.Errorf("a file of another user: %v", err)
	}
	if after, err := os.ReadFile(path); string(after) != before || err != nil {
		t.Errorf("left there: %q, %v", after, err)
	}
}
