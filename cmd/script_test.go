package cmd_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

// The commands of the scripts, besides those of testscript. A script's nodes are the aggregator agg
// and the parties a, b and c. Each has a state directory of its name and a configuration NAME.yaml.

// homes gives every script its own home, the programs and an address to listen at.
func homes(env *testscript.Env) error {
	port, err := freePort(env.Defer)
	if err != nil {
		return err
	}
	env.Setenv("ADDR", fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port))
	web, err := freePort(env.Defer)
	if err != nil {
		return err
	}
	env.Setenv("WEB", fmt.Sprintf("127.0.0.1:%d", web))
	if web, err = freePort(env.Defer); err != nil {
		return err
	}
	env.Setenv("WEB2", fmt.Sprintf("127.0.0.1:%d", web))
	env.Setenv("PATH", programs+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("HOME", env.WorkDir)
	return nil
}

// freePort finds a free loopback port below the range from which the kernel takes the ports of
// outgoing connections, so that parallel scripts cannot take it first. No port is given twice, not
// even to other runs of these tests: the UDP port of its number is held until the end. The tests of
// other packages use other ranges. So a restarted node finds its port free.
func freePort(atEnd func(func())) (int, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 12000+int(ports.Add(1))%3000)
		held, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			held.Close()
			continue
		}
		atEnd(func() { held.Close() })
		return listener.Addr().(*net.TCPAddr).Port, listener.Close()
	}
	return 0, errors.New("no free port")
}

var ports = func() *atomic.Uint32 {
	var p atomic.Uint32
	p.Store(rand.Uint32N(3000))
	return &p
}()

// exits CODE NODE ARGS... runs a command of a node, or of party or aggregator without a state
// directory, and expects its exit code. stdout and stderr match its output.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE NODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	program, flags := at(args[1])
	code, stdout, stderr := run(ts, program, append(flags, args[2:]...)...)
	ts.Stdout().Write(stdout)
	ts.Stderr().Write(stderr)
	if code != want {
		ts.Fatalf("%s exits %d, want %d", strings.Join(args[1:], " "), code, want)
	}
}

// run runs a program to its end, in the script's environment.
func run(ts *testscript.TestScript, program string, args ...string) (code int, stdout, stderr []byte) {
	cmd := exec.Command(filepath.Join(programs, program), args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PARTY_FORMAT", "CLOCK_AHEAD"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	return cmd.ProcessState.ExitCode(), out.Bytes(), talk.Bytes()
}

// at returns the flags that select a node, and its program.
func at(name string) (program string, flags []string) {
	switch name {
	case "party", "aggregator":
		return name, nil
	case "agg":
		program = "aggregator"
	default:
		program = "party"
	}
	return program, []string{"--state", name, "--config", name + ".yaml"}
}

// round carries a bundle of each party to the aggregator, and the answers back. stdout and stderr
// match the output of the commands.
func round(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: round")
	}
	short := ts.Getenv("STUDY")
	steps := [][]string{}
	for _, p := range []string{"a", "b", "c"} {
		steps = append(steps, []string{p, "advanced", "export", short}, []string{"agg", "advanced", "import", short + "-from-" + p + ".bundle"})
	}
	steps = append(steps, []string{"agg", "advanced", "export", short, "-o", "home"})
	for _, p := range []string{"a", "b", "c"} {
		steps = append(steps, []string{p, "advanced", "import", "home/" + short + "-for-" + p + ".bundle"})
	}
	for _, step := range steps {
		program, flags := at(step[0])
		code, stdout, stderr := run(ts, program, append(flags, step[1:]...)...)
		ts.Stdout().Write(stdout)
		ts.Stderr().Write(stderr)
		if code != 0 {
			ts.Fatalf("%s exits %d", strings.Join(step, " "), code)
		}
	}
}

// awaits NODE PATTERN waits, at most half a minute, until a line of the status of a node's studies
// matches.
func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: awaits NODE PATTERN")
	}
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	program, flags := at(args[0])
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, program), append(flags, "status", "--watch")...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME")}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	defer cmd.Wait()
	defer cancel()
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if pattern.MatchString(lines.Text()) {
			return
		}
		said.WriteString(lines.Text() + "\n")
	}
	ts.Fatalf("status of %s never says %q:\n%s", args[0], args[1], said.String())
}

// init NODE... initialises nodes, and sets STEP to the time that the slowest took.
func initNodes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: init NODE...")
	}
	var slowest time.Duration
	for _, name := range args {
		program, flags := at(name)
		began := time.Now()
		if code, _, stderr := run(ts, program, append(flags, "init")...); code != 0 {
			ts.Fatalf("initialising %s: %s", name, stderr)
		}
		slowest = max(slowest, time.Since(began))
	}
	ts.Setenv("STEP", slowest.String())
}

// shortest is the minimum time assumed for a command.
const shortest = time.Second

// steps N NAME sets an environment variable to the time that N commands take on this machine at its
// current load, judged by the slowest of init and by one more. A date that far ahead comes neither
// before the script is there, nor much later. Still, a script should have few commands between a
// date and what must come before it.
func steps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: steps N NAME")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	step, err := time.ParseDuration(ts.Getenv("STEP"))
	if err != nil {
		ts.Fatalf("steps stands after init: %v", err)
	}
	again, err := os.MkdirTemp("", "cosketch-step-")
	ts.Check(err)
	defer os.RemoveAll(again)
	began := time.Now()
	if code, _, stderr := run(ts, "party", "--state", filepath.Join(again, "state"), "--config", filepath.Join(again, "party.yaml"), "init"); code != 0 {
		ts.Fatalf("measuring a step: %s", stderr)
	}
	step = max(step, time.Since(began))
	ts.Setenv(args[1], (time.Duration(n) * max(step, shortest)).String())
}

// interrupt CODE SIGNAL PATTERN NODE ARGS... runs a command of a node until its output matches the
// pattern, or for a pattern file:NAME until that file exists. It then sends INT or TERM, and
// expects the exit code. stderr matches its output.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: interrupt CODE SIGNAL PATTERN NODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	signal, known := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}[args[1]]
	if !known {
		ts.Fatalf("no signal %s", args[1])
	}
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	program, flags := at(args[3])
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, program), append(flags, args[4:]...)...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}
	talk, err := os.Create(ts.MkAbs("interrupted.txt"))
	ts.Check(err)
	defer talk.Close()
	cmd.Stdout, cmd.Stderr = talk, talk
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	said := func() bool {
		if name, file := strings.CutPrefix(args[2], "file:"); file {
			_, err := os.Stat(ts.MkAbs(name))
			return err == nil
		}
		return pattern.MatchString(ts.ReadFile("interrupted.txt"))
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !said() {
		select {
		case err := <-ended:
			ts.Fatalf("%q ended before it was interrupted: %v\n%s", args[3:], err, ts.ReadFile("interrupted.txt"))
		case <-look.C:
		}
	}
	ts.Check(cmd.Process.Signal(signal))
	<-ended
	ts.Stderr().Write([]byte(ts.ReadFile("interrupted.txt")))
	if code := cmd.ProcessState.ExitCode(); code != want {
		ts.Fatalf("%q exits %d when interrupted, want %d:\n%s", args[3:], code, want, ts.ReadFile("interrupted.txt"))
	}
}

// identityOf returns a node's entry for study files.
func identityOf(ts *testscript.TestScript, name string) (id struct{ ID, HPKE string }) {
	program, flags := at(name)
	_, stdout, stderr := run(ts, program, append(flags, "--format", "json", "identity")...)
	if err := json.Unmarshal(stdout, &id); err != nil {
		ts.Fatalf("identity of %s: %v\n%s", name, err, stderr)
	}
	return id
}

// identify NODE NAME sets an environment variable to a node's peer id.
func identify(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: identify NODE NAME")
	}
	ts.Setenv(args[1], identityOf(ts, args[0]).ID)
}

// fetches PARTY ADDRESS asks an aggregator for studies, at most half a minute, until it is up and
// has one.
func fetches(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetches PARTY ADDRESS")
	}
	program, flags := at(args[0])
	for end := time.Now().Add(30 * time.Second); ; {
		code, stdout, stderr := run(ts, program, append(flags, "study", "fetch", args[1])...)
		if code == 0 && len(stdout) > 0 {
			ts.Stdout().Write(stdout)
			ts.Stderr().Write(stderr)
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("fetching exits %d:\n%s", code, stderr)
		}
	}
}

// list FILE NAME ID COLUMNS writes a party's column list.
func writeList(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: list FILE NAME ID COLUMNS")
	}
	text := fmt.Sprintf("cosketch: columns/1\nparty: {name: %s, id: %s}\nrecords: {id: [patient]}\ncolumns: [%s]\n", args[1], args[2], args[3])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// study FILE [KEY=YAML]... writes a study file of the aggregator and the three parties. It sets $ID
// to the study's id and $STUDY to its beginning. The terms are those of a small vertical study;
// KEY=YAML replaces one, KEY= omits it.
func writeStudy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: study FILE [KEY=YAML]...")
	}
	aggregator := identityOf(ts, "agg")
	instant := func(ahead time.Duration) string { return time.Now().Add(ahead).UTC().Format(time.RFC3339) }
	terms := [][2]string{
		{"cosketch", "study/2"},
		{"name", "trial"},
		{"nonce", "000102030405060708090a0b0c0d0e0f"},
		{"aggregator", fmt.Sprintf("{id: %s, hpke: %s, addrs: [%s]}", aggregator.ID, aggregator.HPKE, ts.Getenv("ADDR"))},
		{"parties", fmt.Sprintf("[{name: a, id: %s}, {name: b, id: %s}, {name: c, id: %s}]",
			identityOf(ts, "a").ID, identityOf(ts, "b").ID, identityOf(ts, "c").ID)},
		{"partition", "vertical"},
		{"expires", instant(time.Hour)},
		{"deadline", instant(2 * time.Hour)},
		{"records", "{id: [id]}"},
		{"columns", "[{name: x, kind: numeric, bounds: [0, 10], owner: a}, {name: y, kind: numeric, bounds: [0, 10], owner: b}, {name: z, kind: numeric, bounds: [0, 10], owner: c}]"},
		{"sketches", "[{side: columns, family: sparse, k: 256, s: 1, helpers: {ones: 0.3}, clip: 0.8}]"},
		{"privacy", "{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}"},
		{"analyses", "[{kind: correlation}, {kind: intersection}, {kind: inner-product}]"},
	}
	for _, arg := range args[1:] {
		key, yaml, _ := strings.Cut(arg, "=")
		if ahead, err := time.ParseDuration(yaml); err == nil && strings.HasPrefix(yaml, "+") {
			yaml = instant(ahead) // that long from now
		}
		at := slices.IndexFunc(terms, func(t [2]string) bool { return t[0] == key })
		if at < 0 {
			terms = append(terms, [2]string{key, yaml})
		} else {
			terms[at][1] = yaml
		}
	}
	var file bytes.Buffer
	for _, t := range terms {
		if t[1] != "" {
			fmt.Fprintf(&file, "%s: %s\n", t[0], t[1])
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), file.Bytes(), 0o600))
	id := fmt.Sprintf("%x", sha256.Sum256(file.Bytes()))
	ts.Setenv("ID", id)
	ts.Setenv("STUDY", id[:8])
}

// approved PARTY FILE puts a study file and its approval into a party's store, as if study add and
// study approve had been run in time.
func putApproved(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: approved PARTY FILE")
	}
	source, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	st, err := store.Open(ts.MkAbs(args[0]), store.Party, store.Options{})
	ts.Check(err)
	defer st.Close()
	id := protocol.StudyID(sha256.Sum256(source))
	ts.Check(st.PutStudy(id, source, 0))
	ts.Check(st.PutDecision(id, store.Approve, 0))
}

// spoil STATE board|file|NAME makes part of the study $ID unreadable in an aggregator's state: its
// board, by an invalid message; the file of another study beside it; or the mailbox of the party
// NAME.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: spoil STATE board|file|NAME")
	}
	st, err := store.Open(ts.MkAbs(args[0]), store.Aggregator, store.Options{})
	ts.Check(err)
	defer st.Close()
	id, err := protocol.ParseStudyID(ts.Getenv("ID"))
	ts.Check(err)
	switch args[1] {
	case "board":
		board, err := st.Board(id, 0, 1<<20)
		ts.Check(err)
		ts.Check(st.AppendBoard(id, uint64(len(board)), [][]byte{{0xff}}, nil))
	case "file":
		ts.Check(st.PutStudy(protocol.StudyID{0xfe, 0xfe}, []byte("no study"), 0))
	default:
		party, err := protocol.ParsePeerID(identityOf(ts, args[1]).ID)
		ts.Check(err)
		ts.Check(st.PutResult(id, fmt.Sprintf("mailbox-%x", party[:]), make([]byte, 100)))
	}
}

// site PARTY CSV [KEY=YAML]... writes a party's site file, in which a dataset answers the study
// $ID. CSV is its source, or keys if it begins with "source:", "sql:" or "elsewhere:". The other
// keys are caps (of the dataset; default: just enough for the study of the study command) and any
// of the study's.
func writeSite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: site PARTY CSV [KEY=YAML]...")
	}
	caps, study := "{record: {epsilon: 8, delta: 1e-6}}", "dataset: data"
	for _, arg := range args[2:] {
		key, yaml, _ := strings.Cut(arg, "=")
		if key == "caps" {
			caps = yaml
		} else {
			study += ", " + key + ": " + yaml
		}
	}
	source := "source: " + args[1]
	if strings.HasPrefix(args[1], "sql:") || strings.HasPrefix(args[1], "source:") || strings.HasPrefix(args[1], "elsewhere:") {
		source = args[1]
	}
	text := fmt.Sprintf("datasets:\n  data: {%s, caps: %s}\nstudies:\n  %s: {%s}\n", source, caps, ts.Getenv("ID"), study)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".yaml"), []byte(text), 0o600))
}

// rows FILE COLUMNS FIRST COUNT writes a data file: records FIRST to FIRST+COUNT-1, with values in
// two clusters that depend on the record and a little on the column's name. COLUMNS are separated
// by commas.
func rows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: rows FILE COLUMNS FIRST COUNT")
	}
	first, err := strconv.Atoi(args[2])
	ts.Check(err)
	count, err := strconv.Atoi(args[3])
	ts.Check(err)
	columns := strings.Split(args[1], ",")
	var file bytes.Buffer
	fmt.Fprintf(&file, "id,%s\n", args[1])
	for i := first; i < first+count; i++ {
		fmt.Fprintf(&file, "r%d", i)
		for _, c := range columns {
			group := 6 * (i % 2)
			fmt.Fprintf(&file, ",%.2f", float64(group)+float64((i*37+int(c[0])*i%5)%40)/10)
		}
		file.WriteByte('\n')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), file.Bytes(), 0o600))
}

// dates FILE COLUMN FIRST COUNT writes a data file of dates, 23 days apart from 1935 on, and so
// around 1972.
func datesOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: dates FILE COLUMN FIRST COUNT")
	}
	first, err := strconv.Atoi(args[2])
	ts.Check(err)
	count, err := strconv.Atoi(args[3])
	ts.Check(err)
	var file bytes.Buffer
	fmt.Fprintf(&file, "id,%s\n", args[1])
	for i := first; i < first+count; i++ {
		fmt.Fprintf(&file, "r%d,%s\n", i, time.Date(1935, 1, 1+23*i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), file.Bytes(), 0o600))
}

// fetch STATUS PATH [TOKEN] requests a page of the aggregator, or of the server at $WEB, and
// expects a status. It waits half a minute for a server. stdout matches the answer.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: fetch STATUS PATH [TOKEN]")
	}
	request, err := http.NewRequest(http.MethodGet, "http://"+ts.Getenv("WEB")+args[1], nil)
	ts.Check(err)
	if len(args) == 3 {
		request.Header.Set("Authorization", "Bearer "+args[2])
	}
	answers(ts, request, args[0])
}

// posts STATUS PATH MEDIA FILE [TOKEN] sends a file to the aggregator's API, and prints the
// answer.
func posts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: posts STATUS PATH MEDIA FILE [TOKEN]")
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+ts.Getenv("WEB")+args[1], strings.NewReader(ts.ReadFile(args[3])))
	ts.Check(err)
	request.Header.Set("Content-Type", args[2])
	if len(args) == 5 {
		request.Header.Set("Authorization", "Bearer "+args[4])
	}
	answers(ts, request, args[0])
}

// answers sends a request until a server listens, at most half a minute. It prints the answer,
// which must have the status.
func answers(ts *testscript.TestScript, request *http.Request, status string) {
	deadline := time.Now().Add(30 * time.Second)
	for {
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			if time.Now().After(deadline) {
				ts.Check(err)
			}
			<-time.After(20 * time.Millisecond)
			continue
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		ts.Check(err)
		ts.Stdout().Write(body)
		if fmt.Sprint(answer.StatusCode) != status {
			ts.Fatalf("%s answers %s, want %s:\n%s", request.URL.Path, answer.Status, status, body)
		}
		return
	}
}

// token FILE reads a token from a file, and sets $TOKEN to it and $TOKENID to its id.
func readToken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: token FILE")
	}
	text := strings.TrimSpace(ts.ReadFile(args[0]))
	parts := strings.SplitN(text, "_", 3)
	if len(parts) != 3 {
		ts.Fatalf("%s holds no token", args[0])
	}
	ts.Setenv("TOKEN", text)
	ts.Setenv("TOKENID", parts[1])
}

// metrics PARTY ADDRESS adds an address to a party's site file.
func writeMetrics(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: metrics PARTY ADDRESS")
	}
	path := ts.MkAbs(args[0] + ".yaml")
	ts.Check(os.WriteFile(path, []byte(ts.ReadFile(path)+"metrics: "+args[1]+"\n"), 0o600))
}

// json FILE expects exactly one JSON document in a file, or in stdout or stderr.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: json FILE")
	}
	text := ts.ReadFile(args[0])
	if !json.Valid([]byte(text)) {
		ts.Fatalf("%s is not one JSON document:\n%s", args[0], text)
	}
}
