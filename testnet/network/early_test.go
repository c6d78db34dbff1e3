package network

import (
	"strings"
	"testing"
)

func TestEarlierNames(t *testing.T) {
	for now, was := range map[string]string{
		"advanced export 5f0c1b0e":        "export 5f0c1b0e",
		"study host study.yaml":           "study create study.yaml",
		"budget":                          "budget show",
		"advanced budget cap d record 1":  "budget cap d record 1",
		"--format json study plan s.yaml": "--format json study plan s.yaml",
	} {
		if got := strings.Join(earlier(strings.Fields(now)), " "); got != was {
			t.Errorf("%s: %q, want %q", now, got, was)
		}
	}
}
