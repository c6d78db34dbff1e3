package console

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

// A command's former name, or one under advanced, is answered with the current name before any
// other check.
func TestRenamedCommands(t *testing.T) {
	p := newPlace(t, store.Party)
	for line, is := range map[string]string{
		"fsck":                               "advanced fsck",
		"fsck --help":                        "advanced fsck",
		"log":                                "advanced log",
		"log verify --head 3:ab":             "advanced log verify",
		"--state DIR --format text log show": "advanced log show",
		"study diff a b":                     "advanced study diff",
		"look":                               "status",
		"advanced look":                      "status",
		"advanced status":                    "status",
		"log print 5f0c1b0e":                 "advanced log show",
	} {
		p.does(fail.Usage, args(line), `: it is "party `+is+`"`)
	}
	p.does(fail.Usage, args("--format json fsck"), `it is \"party advanced fsck\"","code":4`)
	p.does(fail.OK, args("advanced log show"))
	p.does(fail.OK, args("backup --help"), "Usage: party backup")
	p.does(fail.Usage, args("status -- log"), "hexadecimal") // a word that is not a command
	p.does(fail.Usage, args("nosuch fsck"), "unexpected argument nosuch")
}

func TestHelpFoldsWhatIsAdvanced(t *testing.T) {
	p := newPlace(t, store.Party)
	top := p.does(fail.OK, args("--help"), "  advanced")
	if strings.Contains(top, "fsck") || strings.Contains(top, "advanced log") {
		t.Errorf("the help names what is advanced:\n%s", top)
	}
	p.does(fail.OK, args("advanced --help"), "advanced fsck", "advanced log verify", "advanced study diff")
	p.does(fail.OK, args("advanced manual"), ".SS party advanced fsck", ".SS party status")
}

// A command's help and completion offer exactly the formats that it accepts.
func TestFormatsOfCommands(t *testing.T) {
	p := newPlace(t, store.Party)
	p.does(fail.OK, args("status --help"), "How to print data: text, json or jsonl\n")
	p.does(fail.OK, args("advanced completion --help"), "Text alone")
	if out := p.does(fail.OK, args("advanced completion --words -- status --format")); strings.Contains(out, "csv") {
		t.Errorf("offered: %q", out)
	}
	if out := p.does(fail.OK, []string{"advanced", "completion", "--words", "--", "status", "--format", ""}); out != "json\njsonl\ntext\n" {
		t.Errorf("offered: %q", out)
	}
	for _, f := range []string{"csv", "parquet", "npy"} {
		p.does(fail.Usage, args("status --format "+f), "--format "+f+": party status prints text, json or jsonl")
	}
	p.does(fail.Usage, args("advanced manual --format json"), "party advanced manual prints text")
	t.Setenv("PARTY_FORMAT", "csv")
	p.does(fail.Usage, args("status"), "PARTY_FORMAT=csv: party status prints text, json or jsonl")
	t.Setenv("PARTY_FORMAT", "json")
	p.does(fail.OK, args("advanced completion bash"), "# bash completion")
	if got := oneOf(ResultFormats()); got != "text, json, jsonl, csv, parquet or npy" {
		t.Error(got)
	}
}
