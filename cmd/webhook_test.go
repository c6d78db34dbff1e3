package cmd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// verifier is the receiver in docs/api.md, in its block of `python not webhook`, run literally.
func verifier(ts *testscript.TestScript) string {
	text, err := os.ReadFile("../docs/api.md")
	ts.Check(err)
	_, after, found := strings.Cut(string(text), "```python not webhook\n")
	code, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		ts.Fatalf("docs/api.md verifies no signature")
	}
	return code + `
import sys
print(verify(open(sys.argv[1]).read(), json.loads(sys.argv[3]), sys.argv[2].encode())["type"])
for change in (lambda h: h.update({"webhook-id": "msg_0"}), lambda h: h.update({"webhook-timestamp": "1"}), lambda h: h.update({"webhook-signature": "v1,AAAA"})):
    headers = json.loads(sys.argv[3])
    change(headers)
    try:
        verify(open(sys.argv[1]).read(), headers, sys.argv[2].encode())
    except ValueError:
        continue
    sys.exit("a wrong header was taken")
`
}

// receiver SECRET FILE listens at $HOOK and receives messages. It verifies signatures like
// docs/api.md, and writes the type, the number and the states to FILE. receiver without arguments
// sets $HOOK, where nobody listens yet.
func receiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 && len(args) != 2 {
		ts.Fatalf("usage: receiver [SECRET FILE]")
	}
	if len(args) == 0 {
		port, err := freePort(ts.Defer)
		ts.Check(err)
		ts.Setenv("HOOK", fmt.Sprintf("http://127.0.0.1:%d/hook", port))
		return
	}
	code, secret, file := verifier(ts), ts.MkAbs(args[0]), ts.MkAbs(args[1])
	var mu sync.Mutex
	seen := map[string]bool{}
	server := &http.Server{Addr: strings.TrimSuffix(strings.TrimPrefix(ts.Getenv("HOOK"), "http://"), "/hook"), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		var m struct {
			Type string
			Data struct {
				Study, Before, After string
				Number               int
			}
		}
		headers := map[string]string{}
		for name := range r.Header {
			headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		text, _ := json.Marshal(headers)
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if _, missing := exec.LookPath("/usr/bin/python3"); err == nil && missing == nil {
			cmd := exec.Command("/usr/bin/python3", "-c", code, secret, string(body), string(text))
			var out []byte
			if out, err = cmd.CombinedOutput(); err == nil && string(out) != m.Type+"\n" {
				err = fmt.Errorf("it prints %q", out)
			} else if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
		}
		line := fmt.Sprintf("%s %d %s>%s\n", m.Type, m.Data.Number, m.Data.Before, m.Data.After)
		if err != nil {
			line = fmt.Sprintf("refused: %v\n", err)
			w.WriteHeader(http.StatusBadRequest)
		}
		if id := headers["webhook-id"]; err != nil || !seen[id] {
			seen[id] = true
			if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				io.WriteString(f, line)
				f.Close()
			}
		}
	})}
	go server.ListenAndServe()
	ts.Defer(func() { server.Shutdown(context.Background()) })
}

// told FILE TEXT waits, at most half a minute, until a file contains a text.
func told(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: told FILE TEXT")
	}
	var text []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		text, _ = os.ReadFile(ts.MkAbs(args[0]))
		if strings.Contains(string(text), args[1]) {
			return
		}
	}
	ts.Fatalf("%s never says %q:\n%s", args[0], args[1], text)
}
