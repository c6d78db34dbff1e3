package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/protocol"
)

// A site file is edited as text. An edit inserts something or replaces one number, and leaves
// everything else as it is, including comments and order. The new text is parsed, and replaces the
// file only if its meaning has changed exactly as requested.

// AddDataset adds a dataset to the site file at path, which need not exist. Unless study is nil, it
// also adds an entry for that study, which the dataset answers. It returns the added lines. An
// error leaves the file unchanged.
func AddDataset(path string, d Dataset, study *protocol.StudyID) (added string, err error) {
	for _, b := range []Budget{d.Caps.Record, d.Caps.Attribute} {
		if err := b.check(); b != (Budget{}) && err != nil {
			return "", fmt.Errorf("changing site file: %w", err)
		}
	}
	added = "datasets:\n" + strings.Join(d.lines("  "), "\n") + "\n"
	if study != nil {
		added += Answer{Dataset: d.Name}.lines(*study)
	}
	return added, edit(path, added, func(text string) (string, error) { return addDataset(path, text, d, study) })
}

// SetCap sets the cap of a dataset under one unit, in the site file at path. An error leaves the
// file unchanged.
func SetCap(path, name string, unit dp.Unit, b Budget) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("changing site file: %w", err)
	}
	lines := fmt.Sprintf("datasets:\n  %s:\n    caps:\n      %s: %s\n", scalar(name), unit, b.flow())
	return edit(path, lines, func(text string) (string, error) { return setCap(path, text, name, unit, b) })
}

// lines are the lines of a dataset's entry.
func (d Dataset) lines(indent string) []string {
	fields := d.fields()
	out := []string{indent + scalar(d.Name) + ":"}
	for _, f := range fields {
		out = append(out, indent+"  "+f)
	}
	return out
}

func (d Dataset) fields() []string {
	source := "source: " + list(d.Source.Files)
	switch {
	case d.Source.SQL != nil:
		source = "sql: " + flowSQL(d.Source.SQL)
	case d.Source.Command != nil:
		source = "command: " + list(d.Source.Command.Args)
	case d.Source.Elsewhere != "":
		source = "elsewhere: " + scalar(d.Source.Elsewhere)
	case len(d.Source.Files) == 1:
		source = "source: " + scalar(d.Source.Files[0])
	}
	out := []string{source}
	if d.Source.Sheet != "" {
		out = append(out, "sheet: "+scalar(d.Source.Sheet))
	}
	for _, e := range readingEntries(d.Source) {
		out = append(out, e.flow())
	}
	if len(d.ID) > 0 {
		out = append(out, "id: "+list(d.ID))
	}
	var apart []string
	for _, name := range sortedKeys(d.ApartFrom) {
		apart = append(apart, scalar(name)+": "+scalar(d.ApartFrom[name]))
	}
	if apart != nil {
		out = append(out, "apart_from: {"+strings.Join(apart, ", ")+"}")
	}
	var caps []string
	for _, c := range []struct {
		unit  dp.Unit
		limit Budget
	}{{dp.Record, d.Caps.Record}, {dp.Attribute, d.Caps.Attribute}} {
		if c.limit != (Budget{}) {
			caps = append(caps, string(c.unit)+": "+c.limit.flow())
		}
	}
	if len(caps) > 0 {
		out = append(out, "caps: {"+strings.Join(caps, ", ")+"}")
	}
	return out
}

// flow writes the budget as in a site file.
func (b Budget) flow() string {
	if b.Delta == 0 {
		return "{epsilon: " + decimalText(float64(b.Epsilon)) + "}"
	}
	return "{epsilon: " + decimalText(float64(b.Epsilon)) + ", delta: " + decimalText(float64(b.Delta)) + "}"
}

// decimalText writes a number in the spelling of site files.
func decimalText(x float64) string {
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(strconv.FormatFloat(x, 'g', -1, 64))
}

// bare matches text that needs no quotes in a YAML file, in flow style or not.
var bare = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)

// scalar quotes a text if needed. A JSON string is a YAML string.
func scalar(s string) string {
	if bare.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // never fails for a string
	return strings.TrimSpace(b.String())
}

func list(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = scalar(t)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// addDataset returns the text of a site file with a dataset added.
func addDataset(path, text string, d Dataset, study *protocol.StudyID) (string, error) {
	p, root, err := partyOf(path, text)
	if err != nil {
		return "", err
	}
	if _, exists := p.Datasets[d.Name]; exists {
		return "", fmt.Errorf("dataset %q is in %s already: choose another name, or edit it there", d.Name, p.Path)
	}
	if text, err = insertTop(text, root, "datasets", entry{name: scalar(d.Name), lines: d.fields()}); err != nil {
		return "", err
	}
	p.Datasets[d.Name] = d
	if study != nil {
		if _, exists := p.Studies[*study]; exists {
			return "", fmt.Errorf("study %s has an entry in %s already: leave it out here, then party data use %s %s", study.Short(), p.Path, d.Name, study.Short())
		}
		if err := confirm(path, text, p); err != nil {
			return "", err
		}
		return useDataset(path, text, *study, Answer{Dataset: d.Name})
	}
	return text, confirm(path, text, p)
}

// setCap returns the text of a site file with a dataset's cap set.
func setCap(path, text, name string, unit dp.Unit, b Budget) (string, error) {
	p, root, err := partyOf(path, text)
	if err != nil {
		return "", err
	}
	d, exists := p.Datasets[name]
	if !exists {
		return "", fmt.Errorf("dataset %q is not in %s%s", name, p.Path, suggestion(name, sortedKeys(p.Datasets)))
	}
	_, datasets := lookup(root, "datasets")
	key, value := lookup(datasets, name)
	caps, limits := lookup(value, "caps")
	_, limit := lookup(limits, string(unit))
	switch {
	case limit != nil:
		text, err = replaceBudget(text, limit, b)
	case caps != nil:
		text, err = insert(text, caps, limits, entry{name: string(unit), value: b.flow()})
	default:
		text, err = insert(text, key, value, entry{name: "caps", value: "{" + string(unit) + ": " + b.flow() + "}"})
	}
	if err != nil {
		return "", err
	}
	if unit == dp.Record {
		d.Caps.Record = b
	} else {
		d.Caps.Attribute = b
	}
	p.Datasets[name] = d
	return text, confirm(path, text, p)
}

// errEdit reports that a person must edit the file: an edit would change something else, or the
// file is written in a way that edits do not support.
var errEdit = errors.New("the site file is written in a way that cannot be edited by this command")

// partyOf parses a site file's text.
func partyOf(path, text string) (Party, *yaml.Node, error) {
	s := source{what: "site file", path: path}
	p := emptyParty(path)
	root, err := s.document([]byte(text))
	if err == nil {
		err = read(s, root, partyKeys(), &p)
	}
	return p, root, err
}

// confirm returns errEdit unless the text means exactly what is wanted.
func confirm(path, text string, want Party) error {
	got, _, err := partyOf(path, text)
	if err != nil || len(text) > maxBytes {
		return errEdit
	}
	if got.Network.Roots.Equal(want.Network.Roots) { // a pool holds functions, which never compare equal
		got.Network.Roots, want.Network.Roots = nil, nil
	}
	for _, p := range []Party{got, want} {
		for id, s := range p.Studies {
			s.where = "" // line numbers change
			p.Studies[id] = s
		}
	}
	if !reflect.DeepEqual(got, want) {
		return errEdit
	}
	return nil
}

// edit replaces the file's text by the result of change. lines is what a person would write
// instead; it is empty if something is only to be removed.
func edit(path, lines string, change func(text string) (string, error)) error {
	fail := func(err error) error { return fmt.Errorf("changing site file: %w", err) }
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // replace the file, not the link to it
	}
	mode := fs.FileMode(0o600)
	before, err := readFile(path)
	exists := err == nil
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := durable.Mkdir(filepath.Dir(path)); err != nil {
			return fail(err)
		}
	case err != nil:
		return fail(err)
	default:
		if mode, err = writable(path); err != nil {
			return fail(err)
		}
	}
	after, err := change(string(before))
	switch {
	case errors.Is(err, errEdit) && lines == "":
		err = fmt.Errorf("%w; %s is as it was: take the entries out by hand", err, path)
	case errors.Is(err, errEdit):
		err = fmt.Errorf("%w; %s is as it was. Write into it:\n%s", err, path, lines)
	}
	if err != nil {
		return fail(err)
	}
	if now, err := readFile(path); exists && (err != nil || !bytes.Equal(now, before)) {
		return fail(fmt.Errorf("%s was changed meanwhile: try again", path))
	}
	if err := replace(path, after, mode); err != nil {
		return fail(fmt.Errorf("%w (may this user write to the file and its directory?)", err))
	}
	return nil
}

// writable returns the mode of a file that this user may write to. Replacing a file needs only the
// directory's permission, but a read-only file should stay unchanged. It also refuses a file of
// another owner: replaced by root, it would become root's.
func writable(path string) (fs.FileMode, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), private.Owned(path, info)
}

// replace writes a site file completely or not at all.
func replace(path, text string, mode fs.FileMode) error {
	return durable.Replace(path, mode, func(f *os.File) error {
		if _, err := f.WriteString(text); err != nil {
			return err
		}
		_, err := LoadParty(f.Name())
		return err
	})
}
