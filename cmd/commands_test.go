package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// most is the maximum number of commands in the plain help of each program.
var most = map[string]int{"party": 28, "aggregator": 22}

// says runs a program with an empty home to its end, and returns what it printed to stdout and
// stderr.
func says(t *testing.T, command ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + programs + ":/usr/bin:/bin"}
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) || ctx.Err() != nil {
		t.Fatalf("%q: %v, %v", command, err, ctx.Err())
	}
	return out.String(), talk.String()
}

// described is a command in the manual page.
type described struct {
	name     string // without the program's name
	says     string
	examples []string
}

// describedBy reads a program's manual page.
func describedBy(t *testing.T, program string) (out []described) {
	t.Helper()
	page, _ := says(t, filepath.Join(programs, program), "advanced", "manual")
	page = strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(page)
	sections := strings.Split(page, "\n.SS "+program+" ")
	for _, section := range sections[1:] {
		section, _, _ = strings.Cut(section, "\n.SH ")
		title, text, _ := strings.Cut(section, "\n")
		var words []string
		for _, word := range strings.Fields(title) {
			if strings.ContainsAny(word[:1], "<[-.") {
				break
			}
			words = append(words, word)
		}
		d := described{name: strings.Join(words, " ")}
		d.says, text, _ = strings.Cut(text, "\n")
		text, _, _ = strings.Cut(text, "\n.TP")
		_, examples, _ := strings.Cut(text, "Example")
		for _, example := range exampleStart.Split(examples, -1)[1:] {
			d.examples = append(d.examples, strings.TrimRight(strings.TrimSpace(program+" "+example), ",;"))
		}
		if at := strings.Index(examples, "source <("); at >= 0 {
			d.examples = []string{strings.TrimSpace(examples[at:])}
		}
		out = append(out, d)
	}
	return out
}

// exampleStart matches the beginning of an example: after a colon, a comma, a semicolon or the
// margin.
var exampleStart = regexp.MustCompile(`(?:(?:s?:|,|;)\s+|\n\s+|; [a-z ]+ needs )(?:party|aggregator) `)

// listed are the commands in the plain help of a program.
func listed(t *testing.T, program string) (out []string) {
	t.Helper()
	help, _ := says(t, filepath.Join(programs, program), "--help")
	_, commands, _ := strings.Cut(help, "\nMake a node:\n")
	for line := range strings.Lines(commands) {
		if name, _, found := strings.Cut(strings.TrimPrefix(line, "  "), "  "); found && strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") {
			out = append(out, name)
		}
	}
	return out
}

// The plain help stays short; all other commands are under advanced.
func TestFewCommands(t *testing.T) {
	t.Parallel()
	for program, most := range most {
		top := listed(t, program)
		if len(top) > most || len(top) < most/2 {
			t.Errorf("%s --help names %d commands, want at most %d: %q", program, len(top), most, top)
		}
		for _, c := range describedBy(t, program) {
			if folded := strings.HasPrefix(c.name, "advanced "); folded == slices.Contains(top, c.name) {
				t.Errorf("%s %s: is it in the plain help (%v), and is it advanced (%v)?", program, c.name, !folded, folded)
			}
		}
	}
}

// A verb has one meaning in all commands of both programs: their descriptions begin with the same
// word.
func TestOneVerbOneMeaning(t *testing.T) {
	t.Parallel()
	means := map[string]map[string][]string{}
	for program := range most {
		for _, c := range describedBy(t, program) {
			verb := c.name[strings.LastIndexByte(c.name, ' ')+1:]
			first, _, _ := strings.Cut(c.says, " ")
			if means[verb] == nil {
				means[verb] = map[string][]string{}
			}
			means[verb][first] = append(means[verb][first], program+" "+c.name)
		}
	}
	for verb, by := range means {
		if len(by) != 1 {
			t.Errorf("%s means %q", verb, by)
		}
	}
	for _, other := range []string{"new", "create-study", "delete", "rm", "ls", "forecast", "reject", "print", "view"} {
		if by := means[other]; by != nil {
			t.Errorf("%s is a second word for a verb that there is: %q", other, by)
		}
	}
	if len(means) < 40 {
		t.Errorf("the manual pages were not understood: %d verbs", len(means))
	}
}

// Every command has an example, and its program can parse every example.
func TestExamplesParse(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for program := range most {
		for _, c := range describedBy(t, program) {
			if len(c.examples) == 0 {
				t.Errorf("%s %s has no example", program, c.name)
			}
			for _, example := range c.examples {
				if words := strings.TrimPrefix(example, "source <("); !strings.Contains(words, c.name) {
					t.Errorf("%s %s: the example %q is of another command", program, c.name, example)
				}
				if _, talk := says(t, shell, "-c", example); strings.Contains(talk, "--help)") || strings.Contains(talk, "it is \"") {
					t.Errorf("%s: %s", example, talk)
				}
			}
		}
	}
}

// Each program knows the commands that only the other has, and refers to it.
func TestCommandsOfTheOtherProgram(t *testing.T) {
	t.Parallel()
	first := func(program string) map[string]bool { // the first words of commands: true unless under advanced
		out := map[string]bool{}
		for _, c := range describedBy(t, program) {
			name, advanced := strings.CutPrefix(c.name, "advanced ")
			word, _, _ := strings.Cut(name, " ")
			out[word] = out[word] || !advanced
		}
		return out
	}
	commands := map[string]map[string]bool{"party": first("party"), "aggregator": first("aggregator")}
	for program, other := range map[string]string{"party": "aggregator", "aggregator": "party"} {
		for word, daily := range commands[other] {
			if _, known := commands[program][word]; known || !daily {
				continue
			}
			_, talk := says(t, filepath.Join(programs, program), word, "x")
			if want := fmt.Sprintf("%[1]s: unknown command %[2]q: %[3]s is another program, which has %[4]q (see %[3]s --help)\n", program, program+" "+word, other, other+" "+word); talk != want {
				t.Errorf("%s %s: %q, want %q", program, word, talk, want)
			}
		}
	}
}

// A command's former name is answered with its current name.
func TestFormerNames(t *testing.T) {
	t.Parallel()
	upkeep := map[string]string{}
	for _, name := range []string{"log show", "log verify", "fsck", "restore", "config init", "config show", "completion", "manual", "study diff", "export", "import"} {
		upkeep[name] = "advanced " + name
	}
	party, aggregator := maps.Clone(upkeep), upkeep
	for _, name := range []string{"identity rotate", "steward init", "data mock", "study cosign", "audit", "sketch", "release", "predict", "query", "inspect", "budget cap"} {
		party[name] = "advanced " + name
	}
	maps.Copy(party, map[string]string{"identity show": "identity", "plan": "study plan", "withdraw": "study withdraw", "budget show": "budget"})
	maps.Copy(aggregator, map[string]string{"study create": "study host", "study new": "study draft"})
	for program, names := range map[string]map[string]string{"party": party, "aggregator": aggregator} {
		var there []string
		for _, c := range describedBy(t, program) {
			there = append(there, c.name)
		}
		for was, is := range names {
			out, talk := says(t, append([]string{filepath.Join(programs, program), "--state", "x"}, strings.Fields(was)...)...)
			if want := program + `: unknown command "` + program + " " + was + `": it is "` + program + " " + is + "\"\n"; talk != want || out != "" {
				t.Errorf("%s %s: %q, want %q", program, was, out+talk, want)
			}
			if !slices.Contains(there, is) {
				t.Errorf("%s %s leads to %s, which is no command", program, was, is)
			}
		}
	}
}
