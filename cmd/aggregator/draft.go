package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

type studyDraft struct {
	Output    string            `short:"o" required:"" placeholder:"FILE" env:"-" help:"The study file to write; it must not exist."`
	Columns   []string          `required:"" placeholder:"FILE" env:"-" help:"A party's column list, as party data columns writes it; once for each party."`
	Column    []string          `env:"-" sep:"none" placeholder:"COLUMN" help:"Describe a column yourself, whatever the lists say: {name: age, kind: numeric, centre: 47, spread: 21}. Once for each column."`
	Rename    map[string]string `env:"-" mapsep:"none" placeholder:"PARTY:COLUMN=NAME" help:"What the study calls a column of a party, whose data keep their own name. Once for each column."`
	Records   string            `env:"-" placeholder:"N|NAME=N,…" help:"About how many records each party has, or single ones by name. Default: what the column lists say."`
	Name      string            `env:"-" help:"The study's name. Default: asked for."`
	Partition *string           `env:"-" enum:"vertical,horizontal" placeholder:"WORD" help:"vertical: same people, other columns; horizontal: same columns, other people. Default: asked for."`
	Ask       []string          `env:"-" sep:"none" placeholder:"ANALYSIS" help:"What is asked, as the study file has it: correlation, or {kind: k-means, clusters: 3}. Once for each. Default: asked for."`
	Rounds    string            `env:"-" enum:"auto,1,2" default:"auto" help:"2: k-means, or masked sums, take a second round, in the light of the first. They err less, and each party sends one message more. Default: as the forecast has it."`
	Masked    bool              `env:"-" help:"Sums are masked: the aggregator sees those over all parties alone. For horizontal studies of three parties or more."`
	Purpose   string            `env:"-" help:"What the study is for, in a sentence that every party reads."`
	Epsilon   string            `env:"-" help:"The ε of one party's releases. Default: 1 for whole records, 8 for single values."`
	Addr      []string          `env:"-" placeholder:"MULTIADDR" help:"Where parties reach this aggregator. Default: a place to fill in."`
	Approval  int               `env:"-" default:"14" placeholder:"DAYS" help:"Days until approval closes. Default: 14."`
	Upload    int               `env:"-" default:"14" placeholder:"DAYS" help:"Days from then until upload closes. Default: 14."`
}

// Help says what comes next.
func (studyDraft) Help() string {
	return "Writes a commented study file from the parties' column lists. Fill in what only people know: a public centre and spread of each numeric column (bounds are second best), and the values of categorical ones. If the lists of a horizontal study describe a column differently, numeric wins over binary, a centre and spread over bounds, otherwise the first list; categorical columns get the values of all lists. Each decision is printed; --column changes it.\n\nExample: aggregator study draft --columns north.yaml --columns south.yaml --name registry --partition vertical --ask correlation -o study.yaml"
}

type drafted struct {
	File    string         `json:"file"`
	Parties []draftedParty `json:"parties"`
	Open    []string       `json:"open"`    // still to be filled in
	Decided []string       `json:"decided"` // where the parties' lists differ
}

type draftedParty struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Words string `json:"words"` // its fingerprint, to be read aloud
	// Records is the approximate number of its records; 0 if unknown.
	Records int64 `json:"records"`
}

// Run drafts a study file.
func (cmd studyDraft) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Approval < 1 || cmd.Upload < 1 {
		return fail.Usage.Of(errors.New("drafting: approval and upload take at least one day each"))
	}
	if _, err := os.Lstat(cmd.Output); err == nil { // before any question is asked
		return fail.Usage.Of(fmt.Errorf("writing the study file: %s exists and stays as it is (name another with -o)", cmd.Output))
	}
	d, err := cmd.known(c, g)
	if err == nil {
		err = cmd.ask(ctx, c, &d)
	}
	if err != nil {
		return err
	}
	text, out, err := cmd.drafted(d)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(cmd.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fail.Usage.Of(fmt.Errorf("writing the study file: %w", err))
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the study file: %w", err)
	}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		c.Say("Compare the ids over a telephone: a mistyped one is another node's, or nobody's.")
		for _, p := range out.Parties {
			c.Say("  %s: %s", p.Name, p.Words)
		}
		for _, line := range out.Decided {
			c.Say("decided: %s", line)
		}
		for _, o := range out.Open {
			c.Say("to be filled in: %s", o)
		}
		if s, err := file.Parse([]byte(text)); err == nil { // if nothing is left to fill in
			c.Say("%s", analysis.SizeOf(s).Says())
			if err := analysis.Deliverable(s); err != nil {
				c.Say("aggregator study host will refuse it: %v", err)
			}
		}
		if d.Undescribed() {
			c.Say("%s", file.Describing)
		}
		for _, p := range d.Parties {
			if p.Records == 0 {
				c.Say("It is not known how many records %s has. Say so with --records %s=N, and the draft will fit them.", p.Name, p.Name)
			}
		}
		c.Say("Next: aggregator study plan %s, then aggregator study host %s", cmd.Output, cmd.Output)
	})
}

// drafted returns the text of a draft, and the notes about it.
func (cmd studyDraft) drafted(d file.Draft) (text string, out drafted, err error) {
	text, open, err := d.Text()
	if names, why := renames(d.Parties); err != nil && d.Partition == study.Horizontal && len(names) > 0 {
		err = fmt.Errorf("%w.\n%s.\nIf so, add %s", err, strings.Join(why, ".\n"), renameFlags(names))
	}
	if err != nil {
		return "", out, fail.Usage.Of(fmt.Errorf("drafting study %s: %w", d.Name, err))
	}
	if len(cmd.Addr) == 0 {
		open = append(open, "aggregator: addrs, where parties reach this node")
	}
	_, decided := d.Merged()
	out = drafted{File: cmd.Output, Open: append([]string{}, open...), Decided: append([]string{}, decided...)}
	for _, p := range d.Parties {
		out.Parties = append(out.Parties, draftedParty{p.Name, p.ID.String(), p.ID.Words(), p.Records})
	}
	return text, out, nil
}

// placeholder stands for an unknown address.
const placeholder = "/dns4/YOUR-HOST/tcp/7424"

// known collects what this node, the flags and the column lists say.
func (cmd studyDraft) known(c *console.Console, g *console.Globals) (file.Draft, error) {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return file.Draft{}, err
	}
	defer st.Close()
	var lists []config.ColumnList
	for _, path := range cmd.Columns {
		l, err := config.LoadColumns(path)
		if err != nil {
			return file.Draft{}, fail.Usage.Of(err)
		}
		lists = append(lists, l)
	}
	d, notes, err := cmd.draft(st, lists)
	for _, note := range notes {
		c.Say("%s", note)
	}
	return d, err
}

// draft collects what this node, the flags and the given column lists say, with notes for people.
func (cmd studyDraft) draft(st *store.Store, lists []config.ColumnList) (d file.Draft, notes []string, err error) {
	d = file.Draft{Name: cmd.Name, Partition: study.Partition(console.Chosen(cmd.Partition)), Epsilon: cmd.Epsilon, Masked: cmd.Masked, Analyses: cmd.Ask, Purpose: cmd.Purpose}
	switch cmd.Rounds {
	case "1":
		d.Rounds = 1
	case "2":
		d.Rounds = 2
	}
	id, err := st.ID()
	if err != nil {
		return d, nil, err
	}
	d.Aggregator = file.DraftAggregator{ID: id, HPKE: base64.StdEncoding.EncodeToString(st.HPKE().PublicKey().Bytes()), Addrs: cmd.Addr}
	if len(cmd.Addr) == 0 {
		d.Aggregator.Addrs = []string{placeholder}
	}
	if _, err := rand.Read(d.Nonce[:]); err != nil {
		return d, nil, fmt.Errorf("drawing a nonce: %w", err)
	}
	for _, text := range cmd.Column {
		own, err := config.ParseColumn(text)
		if err != nil {
			return d, nil, fail.Usage.Of(fmt.Errorf("--column: %w", err))
		}
		d.Own = append(d.Own, own)
	}
	counts, err := console.Records(cmd.Records)
	if err != nil {
		return d, nil, err
	}
	for _, l := range lists {
		if len(d.Records) > 0 && !slices.Equal(d.Records, l.Records) {
			notes = append(notes, fmt.Sprintf("%s identifies records by %s, and the parties before it by %s: the study says %s, and each site file may map its own.", l.Name, strings.Join(l.Records, ", "), strings.Join(d.Records, ", "), strings.Join(d.Records, ", ")))
		} else {
			d.Records = l.Records
		}
		d.Parties = append(d.Parties, file.DraftParty{Name: l.Name, ID: l.ID, Columns: l.Columns, Records: l.About})
	}
	if err := takeNames(d.Parties, cmd.Rename); err != nil {
		return d, nil, fail.Usage.Of(err)
	}
	if err := count(d.Parties, counts); err != nil {
		return d, nil, fail.Usage.Of(err)
	}
	day := int64(24 * time.Hour / time.Second)
	d.Expires = console.Now() + protocol.Instant(int64(cmd.Approval)*day)
	d.Deadline = d.Expires + protocol.Instant(int64(cmd.Upload)*day)
	return d, notes, nil
}

// count replaces the parties' numbers of records by the given ones.
func count(parties []file.DraftParty, counts map[string]int64) error {
	var names []string
	for _, p := range parties {
		names = append(names, p.Name)
	}
	for name, n := range counts {
		known := name == "" || slices.ContainsFunc(parties, func(p file.DraftParty) bool { return p.Name == name })
		switch {
		case !known:
			return fmt.Errorf("--records: no column list is of %q (they are of %s)", name, strings.Join(names, ", "))
		case n < 1:
			return fmt.Errorf("--records: %d is not above 0", n)
		}
	}
	for i, p := range parties {
		if n, named := counts[p.Name]; named {
			parties[i].Records = n
		} else if n, all := counts[""]; all {
			parties[i].Records = n
		}
	}
	return nil
}

// fits returns why the lists cannot form one study of this partition, or nil.
func fits(d file.Draft, p study.Partition) error {
	d.Name, d.Partition = "draft", p
	return d.Check()
}

// ask asks a person for what the flags left out. It repeats a question whose answer does not fit,
// so that good answers are not lost.
func (cmd studyDraft) ask(ctx context.Context, c *console.Console, d *file.Draft) error {
	var given []string // answers as flags, for starting again
	ask := func(flag, question string, take func(answer string) error) error {
		if !c.Interactive() {
			return fail.Usage.Of(fmt.Errorf("drafting: --%s is missing, and there is no terminal to ask at", flag))
		}
		answer, err := c.Ask(ctx, question, take)
		if err != nil && len(given) > 0 {
			err = fmt.Errorf("%w; to go on from here, add %s", err, strings.Join(given, " "))
		}
		if err != nil {
			return fail.Usage.Of(fmt.Errorf("drafting, nothing is written: %w", err))
		}
		given = append(given, fmt.Sprintf("--%s '%s'", flag, answer))
		return nil
	}
	if d.Partition == "" {
		fits := func(p study.Partition) error { return fits(*d, p) }
		if v, h := fits(study.Vertical), fits(study.Horizontal); v != nil && h != nil && v.Error() == h.Error() {
			return fail.Usage.Of(fmt.Errorf("drafting: %w", v)) // no answer would help
		}
		if err := ask("partition", "Do the parties hold other columns of the same people (vertical), or the same columns of other people (horizontal)?", func(answer string) error {
			d.Partition = study.Partition(answer)
			if d.Partition != study.Vertical && d.Partition != study.Horizontal {
				return fmt.Errorf("%.40q: want vertical or horizontal", answer)
			}
			return fits(d.Partition)
		}); err != nil {
			return err
		}
	}
	if d.Name == "" {
		if err := ask("name", "What is the study called?", func(answer string) error {
			d.Name = answer
			return d.Check()
		}); err != nil {
			return err
		}
	}
	if len(d.Analyses) == 0 {
		return ask("ask", "What is asked? Kinds of analysis, separated by spaces, such as: correlation intersection", func(answer string) error {
			d.Analyses = analyses(answer)
			_, _, err := d.Text()
			return err
		})
	}
	return nil
}

// analyses splits text at spaces into kinds, each possibly with options in braces.
func analyses(text string) (out []string) {
	depth := 0
	for _, word := range strings.Fields(text) {
		if depth > 0 {
			out[len(out)-1] += " " + word
		} else {
			out = append(out, word)
		}
		depth += strings.Count(word, "{") - strings.Count(word, "}")
	}
	return out
}
