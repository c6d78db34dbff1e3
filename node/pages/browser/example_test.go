package browser

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block is the code of one language in the API's document.
func block(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/api.md")
	check(t, err)
	_, after, found := strings.Cut(string(text), "```"+language+"\n")
	code, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatalf("no code of %s in docs/api.md", language)
	}
	return code
}

// The commands in the document work, while a study runs and with a token.
func TestExamplesOfTheDocument(t *testing.T) {
	w := newWorld(t, true)
	s := w.add(wards())
	token := w.token("studies:read", "results:read")
	run := func(dir, program string, args ...string) string {
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("%s is not here: its example is not run", program)
			return ""
		}
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "URL="+w.url, "STUDY="+s.ID.String(), "TOKEN="+token)
		var out, talk bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &talk
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s", program, err, talk.String())
		}
		return out.String()
	}
	watched := make(chan string, 1)
	code := block(t, "python")
	go func() { watched <- run(t.TempDir(), "/usr/bin/python3", "-c", code) }()
	w.complete(s)
	if said := <-watched; said != "" {
		for _, want := range []string{"closed", "correlation ", "intersection "} {
			if !strings.Contains(said, want) {
				t.Errorf("the notebook does not say %q:\n%s", want, said)
			}
		}
	}
	dir := t.TempDir()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here: its example is not run")
	}
	said := run(dir, "sh", "-ec", block(t, "sh"))
	raw, err := os.ReadFile(filepath.Join(dir, "result.json"))
	check(t, err)
	sum := sha256.Sum256(raw)
	if name := hex.EncodeToString(sum[:]); !strings.Contains(said, name+"  result.json") || !strings.Contains(said, "event: end") || !strings.Contains(said, s.ID.String()) {
		t.Errorf("curl says:\n%s", said)
	}
	var study struct{ Results []struct{ Name string } }
	text, err := os.ReadFile(filepath.Join(dir, "study.json"))
	check(t, err)
	check(t, json.Unmarshal(text, &study))
	if len(study.Results) != 1 || study.Results[0].Name != hex.EncodeToString(sum[:]) {
		t.Errorf("the study names the results %v, the one that came has %x", study.Results, sum)
	}
}
