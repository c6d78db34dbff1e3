package console

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type grammar struct {
	Globals
	Study struct {
		Explain struct {
			Study string `arg:"" help:"The beginning of the study's id."`
			Wait  bool   `env:"-" help:"Wait."`
		} `cmd:"" help:"Say it in plain words."`
		Add struct {
			File string `arg:"" help:"The study file."`
		} `cmd:"" help:"Keep a study. Uses \\ and 'quotes'."`
		Secret struct{} `cmd:"" hidden:"" help:"Hidden."`
	} `cmd:"" help:"Studies."`
	Status     struct{}          `cmd:"" help:"Say where studies stand."`
	Completion CompletionCommand `cmd:"" help:"Print a script."`
}

func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := kong.New(new(grammar), kong.Name("party"), kong.Description("A node.\n\nA first study."),
		kong.Vars{"version": "1", "state": "S", "config": "C"}, kong.DefaultEnvars("PARTY"))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

func TestCompletion(t *testing.T) {
	studies := func() []string { return []string{"5f0c1b0e", "00112233"} }
	for line, want := range map[string]string{
		"":                            "completion status study",
		"st":                          "status study",
		"study ":                      "add explain",
		"study explain ":              "00112233 5f0c1b0e",
		"study explain 5":             "5f0c1b0e",
		"study explain --w":           "--wait",
		"study explain --wait ":       "00112233 5f0c1b0e",
		"study add ":                  "", // a file
		"--format ":                   "csv json jsonl npy parquet text",
		"--format j":                  "json jsonl",
		"--format = j":                "json jsonl", // as bash splits words
		"--format =":                  "csv json jsonl npy parquet text",
		"--format = json study e":     "explain",
		"--format=j":                  "--format=json --format=jsonl",
		"--log-level=":                "--log-level=debug --log-level=error --log-level=info --log-level=warn",
		"--state=x":                   "", // a directory
		"--format json study e":       "explain",
		"--state ":                    "", // a directory
		"--state study status --form": "--format",
		"completion ":                 "bash fish powershell zsh",
		"nonsense ":                   "completion status study",
		"--log-level=debug study ex":  "explain",
	} {
		words := strings.Split(line, " ")
		if got := strings.Join(candidates(model(t), words, studies), " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	if got := candidates(model(t), nil, studies); len(got) != 3 {
		t.Errorf("no word: %q", got)
	}
}

// Each script can be read by its shell, if that is installed.
func TestShellsReadTheirScripts(t *testing.T) {
	for name, script := range shells {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Logf("%s is not installed", name)
			continue
		}
		args := map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}, "powershell": {"-NoProfile", "-Command", "-"}}[name]
		check := exec.Command(path, args...)
		check.Stdin = strings.NewReader(strings.ReplaceAll(script, "PROGRAM", "party"))
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}

func TestManualNamesEveryCommandAndFlag(t *testing.T) {
	var page strings.Builder
	m := &manual{w: &page}
	m.write(model(t))
	if m.err != nil {
		t.Fatal(m.err)
	}
	for _, want := range []string{`.SS party study explain <study>`, `.B \-\-wait`, "$PARTY_STATE", ".B 8\nparties disagree", `Uses \e and 'quotes'.`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if strings.Contains(page.String(), "Hidden") {
		t.Error("a hidden command is in the page")
	}
	for line := range strings.Lines(page.String()) {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.ContainsFunc([]string{".TH ", ".SH ", ".SS ", ".TP", ".B ", ".I ", ".PP"}, func(macro string) bool { return strings.HasPrefix(line, macro) }) {
			t.Errorf("a line is taken for a request: %q", line)
		}
	}
}

// A service manager is told of the start and of the stop, at either form of its address.
func TestNotify(t *testing.T) {
	if err := notify("", serviceReady); err != nil {
		t.Errorf("without a manager: %v", err)
	}
	if err := notify(filepath.Join(t.TempDir(), "none"), serviceReady); err == nil {
		t.Error("a manager that is not there was told")
	}
}
