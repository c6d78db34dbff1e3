package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// make turns the introductions into a hosted study.
func (v *inviteRun) make(ctx context.Context) (*study.Study, error) {
	for {
		v.draft = studyDraft{Rounds: "auto", Approval: 14, Upload: 14}
		v.ask.Rewind()
		for _, step := range []func(context.Context) error{v.address, v.invite, v.accept, v.name, v.partition, v.asked, v.columns, v.purpose, v.dates, v.privacy} {
			if err := step(ctx); err != nil {
				return nil, err
			}
		}
		s, err := v.host(ctx)
		if s != nil || err != nil {
			return s, err
		}
	}
}

// drafted returns the study file so far.
func (v *inviteRun) drafted() (file.Draft, string, []string, error) {
	d, err := v.draft.known(v.c, v.g)
	if err != nil {
		return d, "", nil, err
	}
	text, open, err := d.Text()
	return d, text, open, err
}

// command returns the command that drafts it.
func (v *inviteRun) command() string {
	out := []string{"aggregator study draft"}
	add := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" {
				out = append(out, "--"+flag+" "+console.Word(value))
			}
		}
	}
	add("columns", v.draft.Columns...)
	add("column", v.draft.Column...)
	if len(v.draft.Rename) > 0 {
		out = append(out, renameFlags(v.draft.Rename))
	}
	add("name", v.draft.Name)
	add("partition", console.Chosen(v.draft.Partition))
	add("ask", v.draft.Ask...)
	add("purpose", v.draft.Purpose)
	add("epsilon", v.draft.Epsilon)
	add("addr", v.draft.Addr...)
	add("approval", strconv.Itoa(v.draft.Approval))
	add("upload", strconv.Itoa(v.draft.Upload))
	name := "study.yaml"
	if v.draft.Name != "" {
		name = v.studyPath(v.draft.Name)
	}
	return strings.Join(append(out, "-o "+console.Word(name)), " ")
}

func (v *inviteRun) name(ctx context.Context) error {
	v.step("The study", "aggregator study draft --columns FILE … -o study.yaml")
	return v.put(ctx, joining.Question{
		ID: joining.Name, Asks: "What is the study called?", Open: "its name",
		Why: "A short name by which all parties know it.", Forms: []string{"registry"},
	}, func(line string) error {
		v.draft.Name = line
		if path := v.studyPath(line); exists(path) {
			return fmt.Errorf("%s is there already: take another name, or host that file by aggregator study host %s", path, path)
		}
		d, err := v.draft.known(v.c, v.g)
		if err != nil {
			return err
		}
		if h, err := fits(d, study.Horizontal), fits(d, study.Vertical); h != nil && err != nil {
			return nil // only the partition is wrong, whatever the name
		}
		d.Partition = study.Vertical
		if fits(d, study.Horizontal) == nil {
			d.Partition = study.Horizontal
		}
		return d.Check()
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (v *inviteRun) partition(ctx context.Context) error {
	d, err := v.draft.known(v.c, v.g)
	if err != nil {
		return err
	}
	horizontal, vertical := fits(d, study.Horizontal), fits(d, study.Vertical)
	alike, why := renames(d.Parties)
	q := joining.Question{
		ID: joining.Partition, Asks: "What do the parties have in common?", Proposed: string(study.Horizontal),
		Why:   "Either each holds the same columns of other people, as two clinics do, or other columns of the same people, as a clinic and a register do.",
		Forms: []string{"horizontal: the same columns of other people", "vertical: other columns of the same people"}, Commands: []string{"aggregator study draft --partition PARTITION …"},
	}
	switch {
	case horizontal != nil && vertical != nil && v.fitRenamed(alike, study.Horizontal) != nil:
		return fail.Usage.Of(fmt.Errorf("these introductions make no study.\nWith the same columns of other people: %w\nWith other columns of the same people: %w", horizontal, vertical))
	case horizontal != nil:
		q.Proposed = string(study.Vertical)
	}
	if horizontal != nil && len(alike) > 0 && v.fitRenamed(alike, study.Horizontal) == nil {
		q.Proposed = string(study.Horizontal) + " " + renameFlags(alike)
		q.Why += " " + strings.Join(why, ". ") + ". The parties' own data keep their names: party join maps them."
		q.Forms = append(q.Forms, "behind it, --rename PARTY:COLUMN=NAME: what the study calls a column of a party")
	}
	return v.put(ctx, q, func(line string) error {
		if line == "" {
			line = q.Proposed
		}
		var p partitioned
		if err := console.TakeLine(&p, line); err != nil {
			return err
		}
		if p.Partition != string(study.Horizontal) && p.Partition != string(study.Vertical) {
			return fmt.Errorf("%.40q: want horizontal or vertical", p.Partition)
		}
		if err := v.fitRenamed(p.Rename, study.Partition(p.Partition)); err != nil {
			return err
		}
		v.draft.Partition, v.draft.Rename = &p.Partition, p.Rename
		return nil
	})
}

// partitioned is the answer to what parties have in common.
type partitioned struct {
	Partition string            `arg:""`
	Rename    map[string]string `mapsep:"none"`
}

// fitRenamed returns why the lists, with columns by these names, cannot form one study of this
// partition.
func (v *inviteRun) fitRenamed(names map[string]string, p study.Partition) error {
	by := v.draft
	by.Rename = names
	d, err := by.known(v.c, v.g)
	if err != nil {
		return err
	}
	return fits(d, p)
}

func (v *inviteRun) asked(ctx context.Context) error {
	usual := []string{string(study.Mean), string(study.Correlation)}
	if console.Chosen(v.draft.Partition) == string(study.Vertical) {
		usual = []string{string(study.Correlation)}
	}
	return v.put(ctx, joining.Question{
		ID: joining.Asked, Asks: "What is asked of the data?", Proposed: strings.Join(usual, " "),
		Why:   "Each analysis is answered with an error; a few errs less than many. docs/study.md says what each is.",
		Forms: []string{"kinds of analysis with spaces between them: mean correlation regression", "with options in braces: {kind: k-means, clusters: 3}"}, Commands: []string{"aggregator study draft --ask ANALYSIS …"},
	}, func(line string) error {
		v.draft.Ask = analyses(line)
		if line == "" {
			v.draft.Ask = usual
		}
		_, _, _, err := v.drafted()
		return err
	})
}

// described is the answer to what columns hold.
type described struct {
	Centre map[string]string `mapsep:"none"`
	Spread map[string]string `mapsep:"none"`
	Bounds map[string]string `mapsep:"none"`
	Values map[string]string `mapsep:"none"`
	Kind   map[string]string `mapsep:"none"`
}

// columns asks for what the introductions leave open, until nothing is.
func (v *inviteRun) columns(ctx context.Context) error {
	for {
		d, _, open, err := v.drafted()
		if err != nil {
			return fail.Usage.Of(err)
		}
		if _, decided := d.Merged(); len(v.draft.Column) == 0 {
			for _, line := range decided {
				v.c.Say("decided: %s", line)
			}
		}
		if len(open) == 0 {
			return nil
		}
		err = v.put(ctx, joining.Question{
			ID: joining.Columns, Asks: "What do the columns hold?", Open: strings.Join(open, "; "),
			Why: file.Describing + " Take them from what is public: a code book, a norm, the literature. They are never computed from the data.",
			Forms: []string{"--centre COLUMN=TYPICAL --spread COLUMN=DEVIATION", "--bounds COLUMN=LOW,HIGH", "--values COLUMN=A,B,C: all values of a categorical column",
				"--kind COLUMN=numeric: a guess of the kind was wrong"}, Commands: []string{"aggregator study draft --column '{name: height, kind: numeric, centre: 170, spread: 12}' …"},
		}, func(line string) error { return v.describe(d, line) })
		if err != nil {
			return err
		}
	}
}

// describe applies a line about columns.
func (v *inviteRun) describe(d file.Draft, line string) error {
	var said described
	if err := console.TakeLine(&said, line); err != nil {
		return err
	}
	columns, _ := d.Merged()
	flags := []struct {
		term string
		of   map[string]string
	}{{"centre", said.Centre}, {"spread", said.Spread}, {"bounds", said.Bounds}, {"values", said.Values}, {"kind", said.Kind}}
	before := slices.Clone(v.draft.Column)
	for _, f := range flags {
		for name := range f.of {
			if !slices.ContainsFunc(columns, func(c file.DraftColumn) bool { return c.Name == name }) {
				return fmt.Errorf("--%s: no column is named %q", f.term, name)
			}
		}
	}
	for _, c := range columns {
		parts, changed := []string{"name: " + strconv.Quote(c.Name)}, false
		kind := string(c.Kind)
		if to := said.Kind[c.Name]; to != "" {
			kind, changed = to, true
		}
		parts = append(parts, "kind: "+strconv.Quote(kind))
		terms := map[string]string{}
		for _, t := range c.Terms {
			terms[t.Key] = t.Value
		}
		for _, f := range flags[:4] {
			value, here := f.of[c.Name]
			if !here {
				continue
			}
			changed = true
			switch f.term {
			case "bounds":
				value = "[" + value + "]"
			case "values":
				var quoted []string
				for _, one := range strings.Split(value, ",") {
					quoted = append(quoted, strconv.Quote(strings.TrimSpace(one)))
				}
				value = "[" + strings.Join(quoted, ", ") + "]"
			}
			terms[f.term] = value
		}
		if !changed {
			continue
		}
		for _, key := range []string{"transform", "unit", "bounds", "centre", "spread", "values"} {
			if terms[key] != "" {
				parts = append(parts, key+": "+terms[key])
			}
		}
		if c.Source != "" {
			parts = append(parts, "source: "+strconv.Quote(c.Source))
		}
		if c.Role != "" {
			parts = append(parts, "role: "+strconv.Quote(c.Role))
		}
		text := "{" + strings.Join(parts, ", ") + "}"
		v.draft.Column = slices.DeleteFunc(v.draft.Column, func(old string) bool {
			was, err := config.ParseColumn(old)
			return err == nil && was.Name == c.Name
		})
		v.draft.Column = append(v.draft.Column, text)
	}
	if _, _, _, err := v.drafted(); err != nil {
		v.draft.Column = before
		return err
	}
	return nil
}

func (v *inviteRun) purpose(ctx context.Context) error {
	return v.put(ctx, joining.Question{
		ID: joining.Purpose, Asks: "What is the study for?", Open: "its purpose",
		Why: "Every party reads it before it decides, and so may its ethics board.", Forms: []string{"a sentence or two"}, Commands: []string{"aggregator study draft --purpose TEXT …"},
	}, func(line string) error {
		v.draft.Purpose = line
		_, text, _, err := v.drafted()
		if err == nil {
			_, err = file.Parse([]byte(text))
		}
		return err
	})
}

// days is the answer to how long parties have.
type days struct {
	Approval int `default:"14"`
	Upload   int `default:"14"`
}

func (v *inviteRun) dates(ctx context.Context) error {
	return v.put(ctx, joining.Question{
		ID: joining.Dates, Asks: "How long do the parties have?", Proposed: "14 days to approve, and 14 more to send",
		Why:   "A party that has not approved by then is left out. The days count from when the study is hosted.",
		Forms: []string{"--approval DAYS --upload DAYS: other numbers of days"}, Commands: []string{"aggregator study draft --approval DAYS --upload DAYS …"},
	}, func(line string) error {
		var d days
		if line == "" {
			d = days{14, 14}
		} else if err := console.TakeLine(&d, line); err != nil {
			return err
		}
		if d.Approval < 1 || d.Upload < 1 {
			return fmt.Errorf("%q: approval and upload take at least one day each", line)
		}
		v.draft.Approval, v.draft.Upload = d.Approval, d.Upload
		return nil
	})
}

// scale has words for values of ε.
func scale() []struct {
	word dp.Strength
	dp.Epsilon
} {
	return []struct {
		word dp.Strength
		dp.Epsilon
	}{{dp.Strong, dp.StrongAt}, {dp.Usual, dp.UsualAt}, {dp.Weak, 2 * dp.UsualAt}}
}

func (v *inviteRun) privacy(ctx context.Context) error {
	_, text, _, err := v.drafted()
	if err != nil {
		return fail.Usage.Of(err)
	}
	s, err := file.Parse([]byte(text))
	if err != nil {
		return fail.Usage.Of(err)
	}
	what := "one person's values were used, or replaced by zeros"
	if s.Privacy.Unit == dp.Attribute {
		what = "one person has this or that value in one column"
	}
	q := joining.Question{
		ID: joining.Privacy, Asks: "How strong is the promise to the people in the data?", Commands: []string{"aggregator study draft --epsilon NUMBER …"},
		Why: fmt.Sprintf("ε says how much one release may give away. Somebody who knows everything else guesses whether %s. 50 times in 100 is pure chance. A stronger promise makes larger errors: the forecast comes next.", what),
	}
	for _, w := range scale() {
		q.Forms = append(q.Forms, fmt.Sprintf("%s: ε = %g; such a guess is right %s", w.word, float64(w.Epsilon), local.RightInHundred(dp.Budget{Epsilon: w.Epsilon, Delta: s.Privacy.Delta})))
		if w.Epsilon == s.Privacy.Epsilon {
			q.Proposed = string(w.word)
		}
	}
	q.Forms = append(q.Forms, "or ε as a number: 2")
	return v.put(ctx, q, func(line string) error {
		if line == "" {
			line = q.Proposed
		}
		v.draft.Epsilon = line
		for _, w := range scale() {
			if line == string(w.word) {
				v.draft.Epsilon = strconv.FormatFloat(float64(w.Epsilon), 'g', -1, 64)
			}
		}
		_, text, _, err := v.drafted()
		if err == nil {
			_, err = file.Parse([]byte(text))
		}
		return err
	})
}

// again is the answer that repeats an earlier question.
type again struct {
	Again    string     `arg:"" enum:"again"`
	Question joining.ID `arg:""`
}

// host shows what the study is worth and hosts it. It returns nil if a question is to be asked
// again.
func (v *inviteRun) host(ctx context.Context) (*study.Study, error) {
	_, text, _, err := v.drafted()
	if err != nil {
		return nil, fail.Usage.Of(err)
	}
	s, err := file.Parse([]byte(text))
	if err != nil {
		return nil, fail.Usage.Of(err)
	}
	path := v.studyPath(s.Name)
	v.step("What it is worth", "aggregator study plan "+console.Word(path))
	p, err := console.PlanFlags{}.Make(s, study.Everyone)
	if err != nil {
		return nil, err
	}
	verdict := console.NewVerdict(p)
	verdict.Tell(v.c)
	v.c.Say("%s", analysis.SizeOf(s).Says())
	o, err := deskOptions(v.g, v.st)
	if err != nil {
		return nil, err
	}
	d := operator{v.st, o.Quotas}
	refused := d.hostable(s)
	if refused == nil {
		printShares(v.c, s, o.Quotas)
	}
	q := joining.Question{
		ID: joining.Host, Asks: "Host the study?", Open: "the study's name, to host it",
		Why:      "Then its file is fixed to the last letter, and parties can approve it. Nothing is sent to anybody, and each party decides for itself.",
		Forms:    []string{s.Name + ": host it", "again QUESTION: ask once more, one of accept, name, partition, ask, columns, purpose, dates, privacy"},
		Commands: []string{v.command(), "aggregator study host " + console.Word(path)},
	}
	if verdict.Useless {
		q.Why += " As it stands nothing that it asks is usable. Parties approve it only with --although-useless; a weaker promise, fewer columns or fewer analyses would help."
	}
	if refused != nil {
		q.Open = fail.Text(refused)
	}
	var hosted *study.Study
	var over joining.ID
	err = v.put(ctx, q, func(line string) error {
		if line == s.Name && refused == nil {
			return v.create(d, text, path, s)
		} else if line == s.Name {
			return refused
		}
		var a again
		if err := console.TakeLine(&a, line); err != nil {
			return fmt.Errorf("%.40q is neither %q, the study's name, nor again QUESTION", line, s.Name)
		}
		if a.Question == joining.Host || !slices.Contains(joining.IDs(joining.Invite), a.Question) {
			return fmt.Errorf("no question is named %.40q", a.Question)
		}
		over = a.Question
		return nil
	})
	if err != nil {
		return nil, err
	}
	if over == "" {
		hosted = s
		return hosted, nil
	}
	for _, id := range []joining.ID{over, joining.Host} {
		if err := v.ask.Forget(id); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// create writes the study file and hosts it.
func (v *inviteRun) create(d operator, text, path string, s *study.Study) error {
	err := durable.Create(path, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing the study file: %w", err)
	}
	if err := d.add(s); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return console.Namesakes(v.c, v.st, s)
}
