package console

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wait"
)

// commands are those of both programs.
type commands struct {
	Globals
	Backup   BackupCommand `cmd:""`
	Status   StatusCommand `cmd:""`
	Report   ReportCommand `cmd:""`
	Advanced struct {
		Upkeep
		Study struct {
			Diff DiffCommand `cmd:""`
		} `cmd:""`
	} `cmd:""`
}

// place is a node's directory and configuration, in which programs are run.
type place struct {
	t      *testing.T
	role   store.Role
	state  string
	config string
}

// newPlace makes a node.
func newPlace(t *testing.T, role store.Role) place {
	t.Helper()
	p := place{t, role, filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "node.yaml")}
	must(t, store.Create(p.state, role, rand.Reader))
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs the program in this process and returns what it printed, to stdout and to stderr.
func (p place) run(args ...string) (exit fail.Exit, out, talk string) {
	p.t.Helper()
	stdout, stderr, stdin := os.Stdout, os.Stderr, os.Stdin
	defer func() { os.Stdout, os.Stderr, os.Stdin = stdout, stderr, stdin }()
	dir := p.t.TempDir()
	var err error
	os.Stdout, err = os.Create(filepath.Join(dir, "out"))
	must(p.t, err)
	os.Stderr, err = os.Create(filepath.Join(dir, "err"))
	must(p.t, err)
	c := &commands{Backup: BackupCommand{Role: p.role}, Status: StatusCommand{Role: p.role}, Report: ReportCommand{Role: p.role}}
	c.Advanced.Upkeep, c.Advanced.Study.Diff.Role = UpkeepOf(p.role), p.role
	exit = Program{
		Name: string(p.role), About: "A node.\n\nFor tests.", Commands: c, Globals: &c.Globals,
		Paths:   func() (config.Paths, error) { return config.Paths{State: p.state, Config: p.config}, nil },
		Renamed: map[string]string{"look": "status", "log print": "advanced log show"},
	}.Main(args)
	must(p.t, os.Stdout.Close())
	must(p.t, os.Stderr.Close())
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		must(p.t, err)
		return string(text)
	}
	return exit, read("out"), read("err")
}

// does runs the program, which must end with an exit code and print each of the texts somewhere.
func (p place) does(want fail.Exit, args []string, says ...string) (out string) {
	p.t.Helper()
	exit, out, talk := p.run(args...)
	if exit != want {
		p.t.Errorf("%q: exit code %d, want %d\n%s%s", args, exit, want, out, talk)
	}
	for _, text := range says {
		if !strings.Contains(out+talk, text) {
			p.t.Errorf("%q does not say %q:\n%s%s", args, text, out, talk)
		}
	}
	return out
}

// open opens the node's state while do runs.
func (p place) open(do func(*store.Store)) {
	p.t.Helper()
	st, err := store.Open(p.state, p.role, store.Options{})
	must(p.t, err)
	defer st.Close()
	do(st)
}

// example is a study of the test data.
func example(t testing.TB, name string) *study.Study {
	t.Helper()
	source, err := os.ReadFile("../../protocol/study/testdata/" + name + ".yaml")
	must(t, err)
	s, err := studyfile.Parse(source)
	must(t, err)
	return s
}

func args(text string) []string { return strings.Fields(text) }

func TestProgramWithoutACommand(t *testing.T) {
	p := newPlace(t, store.Party)
	if exit, out, talk := p.run(); exit != fail.Usage || out != "" || !strings.Contains(talk, "Usage: party <command>") {
		t.Errorf("no arguments: %d, %q, %q", exit, out, talk)
	}
	if exit, out, talk := p.run("--help"); exit != fail.OK || talk != "" || !strings.Contains(out, "Usage: party <command>") {
		t.Errorf("--help: %d, %q, %q", exit, out, talk)
	}
	p.does(fail.OK, args("--version"), "party ")
	p.does(fail.Usage, args("nosuch"), "(see party --help)")
	p.does(fail.Usage, args("advanced log show --nosuch"), "(see party advanced log show --help)")
	p.does(fail.Usage, args("status --format csv"), "--format csv: party status prints text, json or jsonl")
	p.does(fail.Usage, args("--format json nosuch"), `"code":4`)
	t.Setenv("PARTY_FORMAT", "xml")
	p.does(fail.Usage, args("status"), "environment PARTY_FORMAT=xml: party status prints text, json or jsonl")
	t.Setenv("PARTY_FORMAT", "")
	p.does(fail.OK, args("status"), "no studies")
	p.state = filepath.Join(t.TempDir(), "none")
	p.does(fail.Usage, args("status"), "run `party init` first")
}

func TestConfigCommands(t *testing.T) {
	for _, role := range []store.Role{store.Party, store.Aggregator} {
		p := newPlace(t, role)
		p.does(fail.Usage, args("advanced config show"), "is --config right?")
		must(t, os.WriteFile(p.config, nil, 0o600))
		p.does(fail.OK, args("advanced config show"), "sets nothing; --effective shows the defaults")
		must(t, os.Remove(p.config))
		p.does(fail.OK, args("advanced config init"), p.config, "Every key is explained in it")
		before, err := os.ReadFile(p.config)
		must(t, err)
		p.does(fail.Usage, args("advanced config init"), "exists and stays as it is")
		if after, err := os.ReadFile(p.config); err != nil || string(after) != string(before) {
			t.Errorf("the file was written again: %v", err)
		}
		t.Setenv(strings.ToUpper(string(role))+"_LOG_LEVEL", "debug")
		out := p.does(fail.OK, append(args("advanced config show --effective --state"), p.state))
		for _, line := range [][]string{{"state", p.state, "flag --state"}, {"config", p.config, config.FromDefault}, {"log.level", "debug", "environment " + strings.ToUpper(string(role)) + "_LOG_LEVEL"}} {
			found := false
			for got := range strings.Lines(out) {
				found = found || strings.HasPrefix(strings.TrimLeft(got, " "), line[0]+" ") && strings.Contains(got, line[1]) && strings.HasSuffix(strings.TrimSpace(got), line[2])
			}
			if !found {
				t.Errorf("no line %q in\n%s", line, out)
			}
		}
		must(t, os.WriteFile(p.config, []byte("nosuch: 1\n"), 0o600))
		p.does(fail.Usage, args("advanced config show"), "nosuch")
	}
}

// status shows where a study stands, and what to do next.
func TestStatusCommand(t *testing.T) {
	p, agg := newPlace(t, store.Party), newPlace(t, store.Aggregator)
	p.does(fail.OK, args("status"), "no studies", "Next: party study fetch ADDRESS")
	agg.does(fail.OK, args("status"), "no studies", "Next: aggregator study host FILE")
	s := example(t, "hospitals")
	short := s.ID.Short()
	for _, at := range []place{p, agg} {
		at.open(func(st *store.Store) { must(t, st.PutStudy(s.ID, s.Source, 1000)) })
	}
	p.does(fail.OK, args("status"), short, s.Name, "Next: party study explain "+short)
	agg.does(fail.OK, args("status"), short, "Next: aggregator serve")
	p.does(fail.OK, args("status "+short[:5]), short)
	p.does(fail.Usage, args("status ffffffff"), "(status lists the studies that are here)")
	p.open(func(st *store.Store) { must(t, st.PutDecision(s.ID, store.Approve, 1001)) })
	p.does(fail.OK, args("status"), "Next: party run "+short)
	put := func(state session.State, change func(*stored.Snapshot)) {
		now := stored.Snapshot{Study: s.ID.String(), Name: s.Name, State: string(state)}
		change(&now)
		raw, err := json.Marshal(now)
		must(t, err)
		p.open(func(st *store.Store) { must(t, st.PutStatus(s.ID, raw)) })
	}
	put(session.Done, func(*stored.Snapshot) {})
	p.does(fail.OK, args("status --watch"), "Next: party result "+short) // which has ended
	put(session.Collecting, func(now *stored.Snapshot) { now.Await(wait.Steward) })
	p.does(fail.OK, args("status"), "Next: party advanced release "+short)
	p.open(func(st *store.Store) {
		held := st.Held(s.ID)
		must(t, held.Commit([]byte("manifest"), nil))
		must(t, held.Decide())
	})
	p.does(fail.OK, args("status"), "Next: party run "+short)
	put(session.Stopped, func(now *stored.Snapshot) { now.Failure, now.Trouble = "nobody came", "the disk is full" })
	p.does(fail.OK, args("status"), "nobody came", "is not served: the disk is full")
	p.open(func(st *store.Store) {
		if active, err := ActiveStudies(st); err != nil || len(active) != 0 {
			t.Errorf("%d active studies, %v", len(active), err)
		}
	})
	put(session.Collecting, func(*stored.Snapshot) {})
	p.open(func(st *store.Store) {
		if active, err := ActiveStudies(st); err != nil || len(active) != 1 || active[0].ID != s.ID {
			t.Errorf("%d active studies, %v", len(active), err)
		}
		if all, err := (Overview{st}).Snapshots(); err != nil || len(all) != 1 {
			t.Errorf("%d studies, %v", len(all), err)
		}
	})
	p.does(fail.OK, args("report "+short+" -o /dev/null --help"))
	p.does(fail.Absent, append(args("report "+short+" -o"), filepath.Join(t.TempDir(), "r.html")), "party run "+short+" fetches it")
	put(session.Stopped, func(now *stored.Snapshot) { now.Failure = "nobody came" })
	p.does(fail.Failed, append(args("report "+short+" -o"), filepath.Join(t.TempDir(), "r.html")), "ended without a result: nobody came")
	p.does(fail.Usage, append(args("report "+short+" --further abcd -o"), filepath.Join(t.TempDir(), "r.html")), "has no further result", "there are none")
}

func TestLogCommands(t *testing.T) {
	p := newPlace(t, store.Party)
	one, two := example(t, "hospitals"), example(t, "registry")
	p.open(func(st *store.Store) {
		must(t, st.PutStudy(one.ID, one.Source, 1000))
		must(t, st.PutStudy(two.ID, two.Source, 1000))
		must(t, st.PutDecision(one.ID, store.Approve, 1001))
	})
	all := p.does(fail.OK, args("advanced log show"), "approved", one.ID.Short(), two.ID.Short())
	some := p.does(fail.OK, args("advanced log show "+one.ID.Short()), "approved")
	if strings.Contains(some, two.ID.Short()) || len(some) >= len(all) {
		t.Errorf("of one study:\n%s\nof all:\n%s", some, all)
	}
	p.does(fail.Usage, args("advanced log show ffff"), "not in this store")
	var head struct {
		Entries int
		Head    string
	}
	must(t, json.Unmarshal([]byte(p.does(fail.OK, args("--format json advanced log verify"))), &head))
	if head.Entries != strings.Count(all, "\n")-1 {
		t.Errorf("%d entries verified, %d shown", head.Entries, strings.Count(all, "\n")-1)
	}
	p.does(fail.Usage, args("advanced log verify --head nosuch"), "want NUMBER:HASH")
	p.does(fail.Usage, args("advanced log verify --head 0:"+head.Head[2:]), "want NUMBER:HASH")
	p.does(fail.OK, args("advanced log verify --head "+head.Head), "the chain holds")
	p.open(func(st *store.Store) { must(t, st.PutDecision(two.ID, store.Decline, 1002)) })
	p.does(fail.OK, args("advanced log verify --head "+head.Head), "the chain holds")
	number, hash, _ := strings.Cut(head.Head, ":")
	p.does(fail.Usage, args("advanced log verify --head "+number+":"+strings.Repeat("0", len(hash))), "the log was rewritten")
	p.does(fail.Usage, args("advanced log verify --head "+number+"0:"+hash), "its end was cut off")
}

// An intact state passes fsck; damage is named and gives its exit code.
func TestFsckCommand(t *testing.T) {
	p := newPlace(t, store.Party)
	p.does(fail.OK, args("advanced fsck"), "all is as it was written")
	must(t, os.WriteFile(filepath.Join(p.state, "stray.txt"), nil, 0o600))
	p.open(func(st *store.Store) { must(t, st.PutStudy(protocol.StudyID{1}, []byte("no study"), 1000)) })
	p.does(fail.Usage, args("advanced fsck"), "stray.txt", "checks fail")
	p.open(func(st *store.Store) {
		must(t, CheckState(context.Background(), st, slog.New(slog.DiscardHandler)))
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		var said strings.Builder
		must(t, CheckState(ended, st, slog.New(slog.NewTextHandler(&said, nil))))
		if !strings.Contains(said.String(), "party advanced fsck checks all of it") {
			t.Errorf("a database that was not looked through: %q", said.String())
		}
	})
}

func TestBackupAndRestoreCommands(t *testing.T) {
	p := newPlace(t, store.Party)
	s := example(t, "hospitals")
	p.open(func(st *store.Store) { must(t, st.PutStudy(s.ID, s.Source, 1000)) })
	file := filepath.Join(t.TempDir(), "backup.tar")
	p.does(fail.OK, []string{"backup", file}, file, "Next: try it, with advanced restore "+file)
	p.does(fail.Usage, []string{"backup", file}, "it exists and stays as it is")
	p.does(fail.Usage, []string{"backup", filepath.Join(t.TempDir(), "no", "backup.tar")}, "writing ")
	exit, out, talk := p.run("backup", "-")
	if exit != fail.OK || len(out) < 1000 || !strings.Contains(talk, " files, ") {
		t.Errorf("to stdout: %d, %d bytes, %q", exit, len(out), talk)
	}
	again := p
	again.state = filepath.Join(t.TempDir(), "again")
	again.does(fail.OK, []string{"advanced", "restore", file}, "Next: party advanced fsck --state "+again.state)
	again.does(fail.OK, args("status"), s.ID.Short())
	again.does(fail.Usage, []string{"advanced", "restore", file}, "has files already")
	again.state = filepath.Join(t.TempDir(), "third")
	again.does(fail.Usage, []string{"advanced", "restore", file + ".none"}, "reading the backup")
	must(t, os.WriteFile(file, []byte("cosketch: study/2\n"), 0o600))
	again.does(fail.Usage, []string{"advanced", "restore", file}, "it is a study file")
}

func TestDiffCommand(t *testing.T) {
	p := newPlace(t, store.Party)
	s := example(t, "hospitals")
	p.open(func(st *store.Store) { must(t, st.PutStudy(s.ID, s.Source, 1000)) })
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	same, commented := file("same.yaml", string(s.Source)), file("commented.yaml", string(s.Source)+"# more\n")
	edited := file("edited.yaml", strings.Replace(string(s.Source), "name: ", "name: other-", 1))
	p.does(fail.OK, []string{"advanced", "study", "diff", s.ID.Short(), same}, "They are one file, byte for byte.")
	p.does(fail.OK, []string{"advanced", "study", "diff", same, commented}, "They say the same in other bytes")
	p.does(fail.OK, []string{"advanced", "study", "diff", same, edited}, "name\n  - ", "values differ")
	p.does(fail.Usage, []string{"advanced", "study", "diff", same, "ffffffff"}, "not in this store")
	p.does(fail.Usage, []string{"advanced", "study", "diff", "ffffffff", same}, "not in this store")
	p.does(fail.Usage, []string{"advanced", "study", "diff", file("node.yaml", "datasets: {d: {source: x.csv}}\n"), same}, "a study file begins with")
	if exit, _, talk := p.run("advanced", "study", "diff", file("broken.yaml", string(s.Source)+"nosuch: 1\n"), same); exit == fail.OK || !strings.Contains(talk, "nosuch") {
		t.Errorf("a broken file: %d, %q", exit, talk)
	}
	if _, err := ReadStudy(same + ".none"); err == nil || fail.Find(err).Exit != fail.Usage {
		t.Errorf("no file: %v", err)
	}
}

func TestCompletionAndManual(t *testing.T) {
	p := newPlace(t, store.Party)
	s := example(t, "hospitals")
	p.open(func(st *store.Store) { must(t, st.PutStudy(s.ID, s.Source, 1000)) })
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		p.does(fail.OK, args("advanced completion "+shell), "party advanced completion --words")
	}
	p.does(fail.Usage, args("advanced completion tcsh"), "want one shell of bash, fish, powershell, zsh")
	p.does(fail.OK, []string{"advanced", "completion", "--words", "--", "status", ""}, s.ID.Short())
	p.does(fail.OK, []string{"advanced", "completion", "--words", "--", "sta"}, "status")
	p.does(fail.OK, args("advanced manual"), ".TH PARTY 1", ".SH EXIT STATUS", ".SS party advanced log show")
}

func TestStudiesAreAdded(t *testing.T) {
	p := newPlace(t, store.Party)
	s, other := example(t, "hospitals"), example(t, "registry")
	edited, err := studyfile.Parse([]byte(string(s.Source) + "# more\n"))
	must(t, err)
	p.open(func(st *store.Store) {
		if err := AddStudy(st, s, s.Expires, s.Expires); !fail.Has(err, fail.Expired) {
			t.Errorf("at its date: %v", err)
		}
		must(t, AddStudy(st, s, s.Expires, s.Expires-1))
		must(t, st.PutStudy(other.ID, other.Source, 1000))
		must(t, st.PutStudy(protocol.StudyID{1}, []byte("damaged"), 1000))
		var talk strings.Builder
		c := &Console{Out: io.Discard, Err: &talk, Format: Text}
		must(t, Namesakes(c, st, s))
		if talk.Len() > 0 {
			t.Errorf("of itself: %q", talk.String())
		}
		must(t, Namesakes(c, st, edited))
		if !strings.Contains(talk.String(), "Another file named "+s.Name+" is here, "+s.ID.Short()) || strings.Count(talk.String(), "\n") != 1 {
			t.Errorf("of an edited file: %q", talk.String())
		}
		if id, err := FindID(st, s.ID.Short()); id != s.ID || err != nil {
			t.Errorf("%v, %v", id, err)
		}
	})
}

func TestExplainedStudiesArePrinted(t *testing.T) {
	s := example(t, "hospitals")
	for _, format := range []Format{Text, JSON} {
		var out strings.Builder
		must(t, PrintExplained(&Console{Out: &out, Err: io.Discard, Format: format}, s, study.Everyone))
		if !strings.Contains(out.String(), s.Name) {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}

func TestPlanFlags(t *testing.T) {
	got, err := Records("500, north=20,a=b=7")
	if err != nil || len(got) != 3 || got[""] != 500 || got["north"] != 20 || got["a=b"] != 7 {
		t.Errorf("%v, %v", got, err)
	}
	s := example(t, "hospitals")
	if p, err := (PlanFlags{Records: "500"}).Make(s, study.Everyone); err != nil || len(p.Sketches) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	for says, f := range map[string]PlanFlags{
		"is not a whole number":    {Records: "many"},
		`"" appears twice`:         {Records: "1,2"},
		"want COLUMN=SD, like age": {Spread: "age"},
		"not \"age=wide\"":         {Spread: "age=wide"},
		"nosuch":                   {Records: "nosuch=5"},
	} {
		if _, err := f.Make(s, study.Everyone); err == nil || !strings.Contains(err.Error(), says) || fail.Find(err).Exit != fail.Usage {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// An unsigned result is shown as such, written completely, and made a page.
func TestUnsignedResults(t *testing.T) {
	s := example(t, "hospitals")
	p := newPlace(t, store.Party)
	raw := []byte(`{"study":"` + s.ID.String() + `"}`)
	d := Document{Study: s, Raw: raw, Labels: []byte("id,cluster\n1,2\n"), Lost: []error{errors.New("result-1 is damaged")}}
	d.Result.Name, d.Result.Study = s.Name, s.ID.String()
	var out, talk strings.Builder
	c := &Console{Out: &out, Err: &talk, Format: Text}
	must(t, d.Show(c, ""))
	if !strings.Contains(out.String(), s.Name) || !strings.Contains(out.String(), "A RESULT IS LOST: result-1 is damaged.") || !strings.Contains(talk.String(), "labels.csv, which stays with you") {
		t.Errorf("%s%s", out.String(), talk.String())
	}
	c.Files = CSV
	if err := d.Show(c, ""); err == nil || fail.Find(err).Exit != fail.Usage || !strings.Contains(err.Error(), "-o DIR") {
		t.Errorf("files without a place: %v", err)
	}
	c.Files = ""
	dir := filepath.Join(t.TempDir(), "written")
	must(t, d.Show(c, dir))
	for name, want := range map[string]string{"result.json": string(raw), "labels.csv": string(d.Labels), "result.txt": ""} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || want != "" && string(got) != want || len(got) == 0 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := d.Show(c, filepath.Join(dir, "result.json", "below")); err == nil || fail.Find(err).Exit != fail.Usage {
		t.Errorf("into a file: %v", err)
	}
	page := filepath.Join(dir, "page.html")
	p.open(func(st *store.Store) {
		must(t, st.PutStudy(s.ID, s.Source, 1000))
		must(t, d.Report(c, st, page))
		must(t, d.OwnLabels(st)) // there are none
	})
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), s.Name) {
		t.Errorf("%d bytes, %v", len(html), err)
	}
	if d.Labels != nil {
		t.Errorf("labels of nothing: %q", d.Labels)
	}
}
