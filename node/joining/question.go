package joining

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
)

// ID names a question, also in a file of answers.
type ID string

// The questions of party join, in the order in which they are asked. What is decided already is not
// asked.
const (
	Study     ID = "study"     // which of several studies
	Data      ID = "data"      // which file or query holds the data
	Introduce ID = "introduce" // what the operator learns of this party, if no study lists it yet
	Use       ID = "use"       // how the data answer the study: columns, how values are read, the limit
	Approve   ID = "approve"   // the study's id, which approves it
)

// The questions of aggregator invite, in the order in which they are asked.
const (
	Address   ID = "address"   // where parties reach this node
	Whom      ID = "whom"      // who is invited to introduce themselves over the network
	Accept    ID = "accept"    // from whose introductions the study is drafted
	Name      ID = "name"      // of the study
	Partition ID = "partition" // same people, or same columns
	Asked     ID = "ask"       // which analyses
	Columns   ID = "columns"   // what the introductions leave open
	Purpose   ID = "purpose"   // what the study is for
	Dates     ID = "dates"     // how long parties have
	Privacy   ID = "privacy"   // how strong the promise is
	Host      ID = "host"      // the last one, after the forecast
)

// Command is a command that asks.
type Command string

// The commands that ask.
const (
	Join   Command = "party join"
	Invite Command = "aggregator invite"
)

// IDs lists all questions of a command.
func IDs(of Command) []ID {
	if of == Invite {
		return []ID{Address, Whom, Accept, Name, Partition, Asked, Columns, Purpose, Dates, Privacy, Host}
	}
	return []ID{Study, Data, Introduce, Use, Approve}
}

// Says explains an answer to the author of a file of answers.
func (id ID) Says() string {
	return map[ID]string{
		Study:     "where several studies wait: the beginning of the id of one",
		Data:      "where the data are, as behind `party data add NAME`: `patients.csv`, or `clinic.db --query 'SELECT …'`; `--name NAME` names the dataset",
		Introduce: "what the operator learns where no study lists this party yet: its name, and flags of `party data columns`: `north --id patient --uncounted`",
		Use:       "how the data answer the study: flags of `party data use`, `party data change` and, for the limit, `--cap-record` and `--cap-attribute`",
		Approve:   "the first eight characters of the study's id, and flags of `party study approve`; or `decline`",
		Address:   "where parties reach this node: `/dns4/agg.example.org/tcp/7424`",
		Whom:      "whom you invite to introduce themselves over the network, by names of yours: `north south`; without it nobody is",
		Accept:    "the names of those whose introductions are accepted: `north south`; behind them `--refuse NAME`",
		Name:      "the study's name",
		Partition: "`horizontal`: the same columns of other people; `vertical`: other columns of the same people",
		Asked:     "kinds of analysis, as behind `--ask` of `aggregator study draft`: `mean correlation`",
		Columns:   "what the introductions leave open: `--centre height=170 --spread height=12 --values ward=A,B`",
		Purpose:   "what the study is for, in a sentence",
		Dates:     "flags of `aggregator study draft`: `--approval DAYS --upload DAYS`",
		Privacy:   "`strong`, `usual` or `weak`, or ε as a number",
		Host:      "the study's name, which hosts it; or `again QUESTION`, which asks that once more: `again privacy`",
	}[id]
}

// Question is one decision of a steward. An answer is a line; an empty line accepts the proposal.
type Question struct {
	ID       ID
	Asks     string
	Why      string   // the reason for asking
	Proposed string   // what an empty line means; empty: no proposal
	Open     string   // if nothing is proposed: what is missing; may be empty
	Forms    []string // the possible lines
	Commands []string // the equivalent commands without questions
}

// Asker passes questions to whoever answers them.
type Asker interface {
	// Ready is called before questions are asked, with those that are certain to be asked.
	Ready(ids ...ID) error
	// Answer returns a line. wrong is what was wrong with the line before, or nil.
	Answer(ctx context.Context, q Question, wrong error) (string, error)
}

// Ask asks until take accepts a line. An empty line reaches take only if there is a proposal.
func Ask(ctx context.Context, a Asker, q Question, take func(line string) error) error {
	var wrong error
	for {
		line, err := a.Answer(ctx, q, wrong)
		if err != nil {
			return err
		}
		if line = strings.TrimSpace(line); line == "" && q.Proposed == "" {
			wrong = q.unanswered()
			continue
		}
		if wrong = take(line); wrong == nil {
			return nil
		}
	}
}

func (q Question) unanswered() error {
	if q.Open != "" {
		return fmt.Errorf("not decided yet: %s", q.Open)
	}
	return fmt.Errorf("there is no proposal to take")
}

// Script answers from a file. It returns a question's lines one after the other, and after them
// accepts the proposal.
type Script struct {
	path  string
	lines map[ID][]string
	given map[ID]int
}

// Proposed is the line of a file that accepts the proposal.
const Proposed = "proposed"

// NewScript answers with these lines. path names them in errors.
func NewScript(path string, lines map[ID][]string) *Script {
	return &Script{path: path, lines: lines, given: map[ID]int{}}
}

// MissingError reports questions that a file does not answer.
type MissingError struct {
	Path string
	IDs  []ID
}

func (e *MissingError) Error() string { return e.Fail().Error() }

// Fail returns the error's entry in the catalogue.
func (e *MissingError) Fail() *fail.Error {
	var names []string
	for _, id := range e.IDs {
		names = append(names, string(id))
	}
	return fail.Unanswered.New(e.Path, strings.Join(names, ", "))
}

// Ready returns a MissingError if the file leaves any of these questions open.
func (s *Script) Ready(ids ...ID) error {
	missing := slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return len(s.lines[id]) > 0 })
	if len(missing) > 0 {
		return &MissingError{s.path, missing}
	}
	return nil
}

// Answer returns the next line of the file, or none. A wrong line cannot be corrected.
func (s *Script) Answer(_ context.Context, q Question, wrong error) (string, error) {
	if wrong != nil {
		return "", fmt.Errorf("answer %s of %s: %w", q.ID, s.path, wrong)
	}
	lines := s.lines[q.ID]
	if len(lines) == 0 {
		return "", &MissingError{s.path, []ID{q.ID}}
	}
	at := s.given[q.ID]
	if s.given[q.ID]++; at >= len(lines) || lines[at] == Proposed {
		return "", nil
	}
	return lines[at], nil
}
