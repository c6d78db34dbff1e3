package config

import (
	"fmt"

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

// AnswerKeys are those of a file of answers.
func AnswerKeys() []schema.Row { return answerKeys().Rows() }

func answerKeys() schema.Keys[answers] {
	keys := schema.Keys[answers]{{Name: "cosketch", Says: "the format: " + answersVersion, Form: schema.Text(func(a *answers) *string { return &a.version }, nil)}}
	for _, id := range joining.IDs() {
		keys = append(keys, schema.Key[answers]{Name: string(id), Says: id.Says(), Form: schema.Custom("a line, or a list of lines", func(r *schema.Reader, at schema.Item, a *answers) {
			var lines []string
			schema.OneOrMore(schema.Itself[[]string], text(), most).Read(r, at, &lines)
			a.lines[id] = lines
		})})
	}
	return keys
}

// LoadAnswers reads a file of answers to the questions of party join.
func LoadAnswers(path string) (*joining.Script, error) {
	source, root, err := load("answers", sniff.Answers, path, "")
	a := answers{lines: map[joining.ID][]string{}}
	if err == nil {
		err = read(source, root, answerKeys(), &a)
	}
	if err == nil && a.version != answersVersion {
		err = fmt.Errorf("reading answers %s: its first key is cosketch: %s", source.path, answersVersion)
	}
	if err != nil {
		return nil, err
	}
	return joining.NewScript(path, a.lines), nil
}
