package mutate

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalent.txt
var equivalentText string

// equivalent is a change that no test can detect.
type equivalent struct {
	in, above, old, new string // as in mutant; above may be empty: any
	reason              string
}

// equivalents parses equivalent.txt. Each block of lines has a function; "^ " and the line above,
// if the function has the changed line more than once; "- " and the line before the change; "+ "
// and the line after it; and the reason. Lines that begin with # are comments.
func equivalents(text string) ([]equivalent, error) {
	var out []equivalent
	for block := range strings.SplitSeq(text, "\n\n") {
		var e equivalent
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case e.in == "":
				e.in = line
			case strings.HasPrefix(line, "^ "):
				e.above = line[2:]
			case strings.HasPrefix(line, "- "):
				e.old = line[2:]
			case strings.HasPrefix(line, "+"):
				e.new = strings.TrimSpace(line[1:])
			default:
				e.reason = strings.TrimSpace(e.reason + " " + line)
			}
		}
		if e == (equivalent{}) {
			continue
		}
		if e.in == "" || e.old == "" || e.reason == "" {
			return nil, fmt.Errorf("equivalent.txt: %q: want a function, a line that changes and a reason", block)
		}
		out = append(out, e)
	}
	return out, nil
}

// of reports whether a mutant is this change. Comments at the end of a line do not matter.
func (e equivalent) of(m mutant) bool {
	return e.in == m.in && (e.above == "" || bare(e.above) == bare(m.above)) && bare(e.old) == bare(m.old) && bare(e.new) == bare(m.new)
}

// bare returns a line without the comment at its end.
func bare(line string) string {
	code, _, _ := strings.Cut(" "+line, " // ")
	return strings.TrimSpace(code)
}
