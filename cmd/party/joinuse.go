package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// useLine is the answer to how the data answer the study: flags of party data use, data add and
// data change.
type useLine struct {
	Column       map[string]string `mapsep:"none"`
	ID           []string
	CapRecord    string
	CapAttribute string

	readingFlags
}

// dataProposal is the current proposal for how the data answer the study.
type dataProposal struct {
	data    config.Dataset
	known   bool              // the site file has the dataset
	said    map[string]string // columns named by the steward: the study's name to the data's
	capped  config.Caps       // set by the steward; zero: none
	matches []joining.Match   // of the study's columns
	mended  []dataset.Problem // solved by how the data are read
	wrong   []dataset.Problem // not solved
	open    []string          // other reasons why it cannot be accepted
	checked *source.CheckedData
	caps    config.Caps // including the proposed limit
	spent   []local.Spending
	wanted  []joining.Wanted
	held    dataset.Description
}

// use names the data for the study, unless they are named already and fit.
func (j *joinRun) use(ctx context.Context) error {
	short := j.study.ID.Short()
	j.step("Your data in the study", "party data use NAME "+short+", party data check "+short)
	d, known, err := j.data(ctx)
	if err != nil {
		return err
	}
	site, err := config.LoadParty(j.g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	_, answered := site.Studies[j.study.ID]
	a := &dataProposal{data: d, known: known, said: map[string]string{}}
	for {
		if err := j.propose(ctx, a); err != nil {
			return err
		}
		j.showUse(a)
		if answered && a.open == nil && a.limits() == nil && reads(d, reading(a.data)) {
			j.say("The site file says so already.")
			j.checked = a.checked
			return nil
		}
		q := joining.Question{
			ID: joining.Use, Asks: "Take the data so?",
			Why: "What stands above is written into the site file, where later studies find it. Nothing is approved by it, and nothing leaves.",
			Forms: []string{"--column STUDYS=YOURS: another column", "--id COLUMN: another column that identifies a record",
				"--cap-record EPSILON,DELTA: another limit for all studies together", "--missing WORD, --values COLUMN=VALUE:READ, --date FORM, --decimal MARK, …: values are read otherwise (party data change --help)"},
			Commands: j.useCommands(a), Open: strings.Join(a.open, "; "), Proposed: "yes",
		}
		if a.open != nil {
			q.Proposed = ""
		}
		done := false
		err := joining.Ask(ctx, j.ask, q, func(line string) error {
			if done = line == ""; done {
				return nil
			}
			return a.change(line)
		})
		if err != nil {
			return console.AskedError(err)
		}
		if done {
			j.checked = a.checked
			return j.takeUse(a)
		}
	}
}

// change applies a line.
func (a *dataProposal) change(line string) error {
	var l useLine
	if err := console.TakeLine(&l, line); err != nil {
		return err
	}
	more, err := l.reading()
	if err != nil {
		return err
	}
	if len(l.ID) > 0 && a.known {
		return fmt.Errorf("%q is a dataset of the site file: what identifies its records is fixed there", a.data.Name)
	}
	var names []string
	for _, w := range a.wanted {
		names = append(names, w.Name)
	}
	if err := (config.Answer{Columns: l.Column}).Check(names); err != nil {
		return err
	}
	for _, b := range []struct {
		text string
		unit dp.Unit
		to   *config.Budget
	}{{l.CapRecord, dp.Record, &a.capped.Record}, {l.CapAttribute, dp.Attribute, &a.capped.Attribute}} {
		limit, err := budgetOf(b.text, b.unit)
		if err != nil {
			return err
		}
		if limit != (config.Budget{}) {
			*b.to = limit
		}
	}
	if len(l.ID) > 0 {
		a.data.ID = l.ID
	}
	maps.Copy(a.said, l.Column)
	readAlso(&a.data, more)
	return nil
}

// propose computes a proposal for how the data answer the study.
func (j *joinRun) propose(ctx context.Context, a *dataProposal) (err error) {
	a.wanted, a.open, a.wrong, a.checked, a.spent = nil, nil, nil, nil, nil
	for _, i := range j.study.OwnColumns(j.party) {
		a.wanted = append(a.wanted, joining.Wanted{Name: j.study.Columns[i].Name, Kind: j.study.Columns[i].Kind})
	}
	var mended []dataset.Problem
	if a.held, mended, err = j.look(ctx, &a.data, dataset.DescribeOptions{}); err != nil {
		return err
	}
	a.mended = append(a.mended, mended...)
	site, err := config.LoadParty(j.g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	if err := j.identify(ctx, a); err != nil {
		return err
	}
	a.match(j.study, site)
	a.caps = a.data.Caps
	if a.capped.Record != (config.Budget{}) {
		a.caps.Record = a.capped.Record
	}
	if a.capped.Attribute != (config.Budget{}) {
		a.caps.Attribute = a.capped.Attribute
	}
	if a.open != nil {
		return nil
	}
	if err := j.fit(ctx, a, site); err != nil {
		return err
	}
	if a.open == nil {
		return j.check(ctx, a, site)
	}
	return nil
}

// identify finds the columns that identify a record: the study's, if the data have them.
func (j *joinRun) identify(ctx context.Context, a *dataProposal) error {
	has := func(name string) bool {
		return slices.ContainsFunc(a.held.Columns, func(c dataset.ColumnDescription) bool { return c.Name == name })
	}
	if len(a.data.ID) > 0 || a.known || !slices.ContainsFunc(j.study.Records.ID, func(name string) bool { return !has(name) }) {
		return nil
	}
	ids, err := j.identifying(ctx, a.data, a.held)
	switch {
	case err != nil:
		return err
	case len(ids) == len(j.study.Records.ID):
		a.data.ID = ids
	default:
		a.open = append(a.open, fmt.Sprintf("which column is %q, by which the study knows a record: --id COLUMN", strings.Join(j.study.Records.ID, ", ")))
	}
	return nil
}

// match proposes a column of the data for each of the study's.
func (a *dataProposal) match(s *study.Study, site config.Party) {
	ids := a.data.ID
	if len(ids) == 0 {
		ids = s.Records.ID
	}
	var held []joining.Held
	made := studyNames(a.held)
	for _, c := range a.held.Columns {
		if !slices.Contains(ids, c.Name) {
			held = append(held, joining.Held{Name: c.Name, Kind: c.Kind, Made: made[c.Name]})
		}
	}
	earlier := map[string]string{}
	for _, id := range slices.SortedFunc(maps.Keys(site.Studies), func(a, b protocol.StudyID) int { return strings.Compare(a.String(), b.String()) }) {
		if id != s.ID && a.known && site.Studies[id].Dataset == a.data.Name {
			maps.Copy(earlier, site.Studies[id].Columns)
		}
	}
	if own, answered := site.Studies[s.ID]; answered {
		maps.Copy(earlier, own.Columns)
	}
	a.matches = joining.Proposal(a.wanted, held, earlier)
	for i, w := range a.wanted {
		if header, said := a.said[w.Name]; said {
			a.matches[i] = joining.Match{Header: header, Why: joining.Said}
		}
		if a.matches[i].Header == "" {
			a.open = append(a.open, fmt.Sprintf("which column is %q: --column %s", w.Name, console.Word(w.Name+"=NAME")))
		}
	}
}

// columns maps the names of columns that differ.
func (a *dataProposal) columns() map[string]string {
	out := map[string]string{}
	for i, w := range a.wanted {
		if a.matches[i].Header != w.Name {
			out[w.Name] = a.matches[i].Header
		}
	}
	return out
}

// site is the site file with the proposal.
func (a *dataProposal) site(file config.Party, s *study.Study) config.Party {
	file.Datasets, file.Studies = maps.Clone(file.Datasets), maps.Clone(file.Studies)
	d := a.data
	d.Caps = a.caps
	file.Datasets[d.Name] = d
	entry := file.Studies[s.ID]
	if entry.Release == "" {
		entry.Release = config.ReleaseAuto
	}
	entry.Dataset, entry.Columns = d.Name, a.columns()
	file.Studies[s.ID] = entry
	return file
}

// options are the inputs for the study with the proposed data.
func (j *joinRun) options(a *dataProposal, file config.Party) source.Options {
	o := sourceOf(j.st, j.g, j.study, nil)
	o.Site = func() (config.Party, error) { return a.site(file, j.study), nil }
	return o
}

// fit lists everything that the study would refuse, and changes how the data are read if that
// helps.
func (j *joinRun) fit(ctx context.Context, a *dataProposal, file config.Party) error {
	for {
		misfits, err := source.Misfits(ctx, j.options(a, file))
		if err != nil {
			return err
		}
		mend := dataset.Remedy(misfits)
		if mend.IsZero() || reads(a.data, mend) {
			a.wrong = misfits
			break
		}
		for _, p := range misfits {
			if !p.Remedy.IsZero() {
				a.mended = append(a.mended, p)
			}
		}
		readAlso(&a.data, mend)
	}
	for _, p := range a.wrong {
		a.open = append(a.open, p.String())
	}
	return nil
}

// check reads the data like a run, and checks policy and budget.
func (j *joinRun) check(ctx context.Context, a *dataProposal, file config.Party) error {
	if err := j.budget(a, file); err != nil {
		return err
	}
	talk := newTalk(j.c, j.study, j.party)
	defer talk.end()
	o := j.options(a, file)
	o.Observe = talk.observe
	checked, refusal, err := source.CheckData(ctx, o)
	talk.end()
	if err != nil {
		return err
	}
	a.checked = &checked
	if refusal != nil {
		a.open = append(a.open, fail.Text(refusal))
	}
	return nil
}

// budget proposes a cap if there is none: what this study spends, so that nothing else can be spent
// until the steward allows it.
func (j *joinRun) budget(a *dataProposal, file config.Party) (err error) {
	before, err := j.st.Ledger()
	if err != nil {
		return err
	}
	if a.spent, err = spendings(a.site(file, j.study), before, j.study, j.party, false); err != nil {
		return err
	}
	if j.study.Privacy.Mechanism == dp.None || a.caps != (config.Caps{}) {
		return nil
	}
	for _, s := range a.spent {
		if s.Unit != j.study.Privacy.Unit || s.After == nil {
			continue
		}
		limit, err := budgetOf(fmt.Sprintf("%s,%g", dp.AtMost(*s.After, 4), s.Delta), s.Unit)
		if err != nil {
			return err
		}
		if s.Unit == dp.Record {
			a.caps.Record = limit
		} else {
			a.caps.Attribute = limit
		}
	}
	a.spent, err = spendings(a.site(file, j.study), before, j.study, j.party, false)
	return err
}

// showUse shows the proposal.
func (j *joinRun) showUse(a *dataProposal) {
	t := block.Table{Columns: block.Headed("the study's", "kind", "yours", "seems", "why"), AllRows: true}
	for i, w := range a.wanted {
		m := a.matches[i]
		seems := ""
		for _, c := range a.held.Columns {
			if c.Name == m.Header {
				seems = string(c.Kind)
			}
		}
		t.Rows = append(t.Rows, block.Cells(w.Name, string(w.Kind), m.Header, seems, string(m.Why)))
	}
	ids := a.data.ID
	if len(ids) == 0 {
		ids = j.study.Records.ID
	}
	j.show(block.Text{Text: fmt.Sprintf("%s: %s of %s. A record is known by %s.", a.data.Name, block.Counted(a.held.Records, "record", "records"), a.data.Source, strings.Join(ids, ", "))}, t)
	j.showRemedied(a.data, a.mended)
	if len(a.wrong) > 0 {
		var items []string
		for _, p := range a.wrong {
			items = append(items, p.String())
		}
		j.show(block.Text{Tone: block.Warn, Text: "What the study refuses, and no option reads by itself:"}, block.List{Items: items})
	}
	if a.checked != nil {
		j.show(append([]block.Block{block.Text{Text: fmt.Sprintf("%s fit, %d left out for a missing value. What the study does to them:", block.Counted(a.checked.Records, "record", "records"), a.checked.Skipped)}}, a.checked.Effect.Blocks()...)...)
	}
	if a.spent != nil {
		j.show(local.Spendings(a.spent))
	}
	if a.data.Caps == (config.Caps{}) && a.capped == (config.Caps{}) && a.caps != (config.Caps{}) {
		j.say("The limit is what this study spends: nothing else about these people can be released until you raise it.")
	}
}

// useCommands are the commands for the same.
func (j *joinRun) useCommands(a *dataProposal) []string {
	short := j.study.ID.Short()
	with, _ := options(reading(a.data))
	var parts []string
	switch {
	case !a.known:
		add := dataAdd{Name: a.data.Name, File: a.data.Source.Files, ID: a.data.ID, ApartFrom: a.data.ApartFrom, sheetFlag: sheetFlag{a.data.Source.Sheet}}
		if sql := a.data.Source.SQL; sql != nil {
			add.Query, add.DSNEnv, add.DSNFile = sql.Query, sql.DSN.Env, sql.DSN.File
			if sql.Database != "" {
				add.File = []string{sql.Database}
			}
		}
		if program := a.data.Source.Command; program != nil {
			add.Command = strings.Join(program.Args, " ")
		}
		parts = append(parts, add.again()+with)
	case with != "":
		parts = append(parts, "party data change "+console.Word(a.data.Name)+with)
	}
	use := "party data use " + console.Word(a.data.Name) + " " + short
	if a.matches != nil {
		columns := a.columns()
		for _, name := range slices.Sorted(maps.Keys(columns)) {
			if columns[name] != "" {
				use += " --column " + console.Word(name+"="+columns[name])
			}
		}
	}
	parts = append(parts, use)
	for _, l := range a.limits() {
		parts = append(parts, fmt.Sprintf("party advanced budget cap %s %s %g %g", console.Word(a.data.Name), l.unit, float64(l.to.Epsilon), float64(l.to.Delta)))
	}
	return parts
}

// limit is a cap under one unit.
type limit struct {
	unit dp.Unit
	to   config.Budget
}

// limits are the caps that the site file does not have yet.
func (a *dataProposal) limits() (out []limit) {
	for _, l := range []struct {
		unit    dp.Unit
		is, was config.Budget
	}{{dp.Record, a.caps.Record, a.data.Caps.Record}, {dp.Attribute, a.caps.Attribute, a.data.Caps.Attribute}} {
		if l.is != l.was {
			out = append(out, limit{l.unit, l.is})
		}
	}
	return out
}

// takeUse writes the proposal into the site file.
func (j *joinRun) takeUse(a *dataProposal) error {
	limits := a.limits()
	if err := j.keep(a.data, a.known); err != nil {
		return err
	}
	for _, l := range limits {
		if err := config.SetCap(j.g.Config, a.data.Name, l.unit, l.to); err != nil {
			return fail.Usage.Of(err)
		}
	}
	lines, err := config.UseDataset(j.g.Config, j.study.ID, config.Answer{Dataset: a.data.Name, Columns: a.columns()})
	if err != nil {
		return fail.Usage.Of(err)
	}
	j.say("The site file, %s, says now:\n%s", j.g.Config, lines)
	return nil
}
