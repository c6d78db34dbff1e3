package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/protocol/schema"
)

// answersVersion is the value of the first key of a file of answers.
const answersVersion = "answers/1"

type answers struct {
	version string
	lines   map[joining.ID][]string
}

// AnswerKeys are the keys of a file of answers to a command.
func AnswerKeys(of joining.Command) []schema.Row { return answerKeys(of).Rows() }

func answerKeys(of joining.Command) schema.Keys[answers] {
	keys := schema.Keys[answers]{{Name: "cosketch", Doc: "the format: " + answersVersion, Form: schema.Text(func(a *answers) *string { return &a.version }, nil)}}
	for _, id := range joining.IDs(of) {
		keys = append(keys, schema.Key[answers]{Name: string(id), Doc: id.Says(), Form: schema.Custom("a line, or a list of lines", func(r *schema.Reader, at schema.Item, a *answers) {
			var lines []string
			schema.OneOrMore(schema.Itself[[]string], text(), most).Read(r, at, &lines)
			a.lines[id] = lines
		})})
	}
	return keys
}

// KeptAnswers returns the lines of a file that KeepAnswers wrote, or none if there is no file.
func KeptAnswers(path string, of joining.Command) (map[joining.ID][]string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return map[joining.ID][]string{}, nil
	}
	a, err := loadAnswers(path, of)
	return a.lines, err
}

// KeepAnswers writes a file of answers, replacing the one before.
func KeepAnswers(path string, of joining.Command, lines map[joining.ID][]string) error {
	var b strings.Builder
	b.WriteString(schema.Comment(fmt.Sprintf("What %s was told so far. It goes on from here, and removes this file when the study has its result. To have something asked again, delete its line.", of)))
	fmt.Fprintf(&b, "cosketch: %s\n", answersVersion)
	for _, id := range joining.IDs(of) {
		if len(lines[id]) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", id, list(lines[id]))
		}
	}
	return durable.Replace(path, durable.Private, func(f *os.File) error {
		_, err := f.WriteString(b.String())
		return err
	})
}

// LoadAnswers reads a file of answers to the questions of a command.
func LoadAnswers(path string, of joining.Command) (*joining.Script, error) {
	a, err := loadAnswers(path, of)
	if err != nil {
		return nil, err
	}
	return joining.NewScript(path, a.lines), nil
}

func loadAnswers(path string, of joining.Command) (answers, error) {
	source, root, err := load("answers", sniff.Answers, path, "")
	a := answers{lines: map[joining.ID][]string{}}
	if err == nil {
		err = read(source, root, answerKeys(of), &a)
	}
	if err == nil && a.version != answersVersion {
		err = fmt.Errorf("reading answers %s: its first key is cosketch: %s", source.path, answersVersion)
	}
	return a, err
}
