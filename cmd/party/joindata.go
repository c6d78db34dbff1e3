package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/journal"
)

// whichData is the answer to where the data are: the arguments of party data add NAME.
type whichData struct {
	File      []string `arg:"" optional:""`
	Query     string
	DSNEnv    string `name:"dsn-env" xor:"dsn"`
	DSNFile   string `name:"dsn-file" xor:"dsn"`
	Command   string
	Name      string
	ApartFrom map[string]string `mapsep:"none"`

	sheetFlag
	readingFlags
}

// data returns the study's dataset, the site file's only one, or the one that the steward names.
func (j *joinRun) data(ctx context.Context) (d config.Dataset, known bool, err error) {
	site, err := config.LoadParty(j.g.Config)
	if err != nil {
		return d, false, fail.Usage.Of(err)
	}
	names := slices.Sorted(maps.Keys(site.Datasets))
	if j.study != nil {
		if entry, answered := site.Studies[j.study.ID]; answered {
			return site.Datasets[entry.Dataset], true, nil
		}
	}
	if len(names) == 1 {
		j.say("The data are %s (%s), as the site file names them.", names[0], site.Datasets[names[0]].Source)
		return site.Datasets[names[0]], true, nil
	}
	q := joining.Question{
		ID: joining.Data, Asks: "Which file or query holds the data?", Open: "where the data are",
		Why:      "They are read here, and stay here. One line a person: who has several loses more privacy than the study promises.",
		Forms:    []string{"a file: patients.csv, .parquet or .xlsx (several, or a pattern, are one dataset)", "an SQLite database: clinic.db --query 'SELECT …'; PostgreSQL: --dsn-file FILE --query 'SELECT …'", "what a program writes: --command 'WORDS'"},
		Commands: []string{"party data add NAME FILE"},
	}
	if len(names) > 0 {
		q.Forms = append(q.Forms, "a dataset of the site file: "+strings.Join(names, ", "))
	}
	err = joining.Ask(ctx, j.ask, q, func(line string) error {
		if d, known = site.Datasets[line]; known {
			return nil
		}
		var w whichData
		if err := console.TakeLine(&w, line); err != nil {
			return err
		}
		add := dataAdd{File: w.File, Query: w.Query, DSNEnv: w.DSNEnv, DSNFile: w.DSNFile, Command: w.Command, ApartFrom: w.ApartFrom, sheetFlag: w.sheetFlag, readingFlags: w.readingFlags}
		if add.Name = w.Name; add.Name == "" {
			add.Name = nameOf(w.File, site)
		}
		if d, _, err = add.dataset(j.g); err != nil {
			return err
		}
		if _, err := d.Source.Paths(); err != nil && !d.Source.IsQuery() {
			return err
		}
		if d.Source.Command != nil {
			d.Source.Command.Dir = filepath.Dir(site.Path)
		}
		return add.alike(d, site)
	})
	return d, known, console.AskedError(err)
}

// ready checks before data are read that there are answers to the questions to come, including
// where the data are. It leaves out what the site file answers.
func (j *joinRun) ready(ids ...joining.ID) error {
	site, err := config.LoadParty(j.g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	answered := false
	if j.study != nil {
		_, answered = site.Studies[j.study.ID]
	}
	switch {
	case answered:
		ids = slices.DeleteFunc(ids, func(id joining.ID) bool { return id == joining.Use })
	case len(site.Datasets) != 1:
		ids = append([]joining.ID{joining.Data}, ids...)
	}
	return console.AskedError(j.ask.Ready(ids...))
}

// nameOf makes an unused name for a dataset from its file's name.
func nameOf(files []string, site config.Party) string {
	name := "data"
	if len(files) > 0 {
		base := filepath.Base(files[0])
		base = base[:len(base)-len(filepath.Ext(base))]
		base = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
				return r
			}
			return -1
		}, base)
		if base != "" {
			name = base
		}
	}
	free := name
	for n := 2; ; n++ {
		if _, taken := site.Datasets[free]; !taken {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// look reads the data. If problems keep all of the data from being read and can be solved, it
// solves them in d.
func (j *joinRun) look(ctx context.Context, d *config.Dataset, o dataset.DescribeOptions) (held dataset.Description, mended []dataset.Problem, err error) {
	for range 3 {
		if held, err = described(ctx, j.c, *d, o); err != nil {
			return held, mended, err
		}
		stops := slices.DeleteFunc(slices.Clone(held.Problems), func(p dataset.Problem) bool { return !p.Stops })
		mend := dataset.Remedy(stops)
		if len(stops) == 0 || mend.IsZero() {
			return held, mended, nil
		}
		mended = append(mended, stops...)
		readAlso(d, mend)
	}
	return held, mended, nil
}

// identifying returns the first column that seems to identify a record: without missing values, and
// with as many values as records.
func (j *joinRun) identifying(ctx context.Context, d config.Dataset, held dataset.Description) ([]string, error) {
	if len(d.ID) > 0 {
		return d.ID, nil
	}
	for _, c := range held.Columns {
		if c.Name == "" || c.Missing > 0 || !c.More && int64(c.Distinct) < held.Records {
			continue
		}
		again, err := described(ctx, j.c, d, dataset.DescribeOptions{ID: []string{c.Name}, Normalize: normalization(nil)})
		if err != nil {
			return nil, err
		}
		if again.IDs != nil && again.IDs.Repeated+again.IDs.Absent == 0 {
			return []string{c.Name}, nil
		}
	}
	return nil, nil
}

// introduction is the answer to what the operator learns: the party's name, and flags of party data
// columns.
type introduction struct {
	Name      string   `arg:"" optional:""`
	ID        []string `placeholder:"COLUMN"`
	Uncounted bool
	Header    bool

	readingFlags
}

// introduce writes what the operator needs to draft a study with this party, unless it was written
// before.
func (j *joinRun) introduce(ctx context.Context) error {
	path := j.introductionPath()
	if list, err := j.introduced(path); err == nil {
		if !j.ticket.IsZero() {
			j.say("The introduction is %s, as an earlier run wrote it:", path)
			j.show(introductionFacts("", list, nil))
		}
		return nil
	}
	j.say("No study at this aggregator lists this party yet. Its operator drafts one from introductions.")
	if err := j.ready(joining.Introduce); err != nil {
		return err
	}
	d, known, err := j.data(ctx)
	if err != nil {
		return err
	}
	held, mended, err := j.look(ctx, &d, dataset.DescribeOptions{})
	if err != nil {
		return err
	}
	var saying introduction
	if saying.ID, err = j.identifying(ctx, d, held); err != nil {
		return err
	}
	var list config.ColumnList
	for {
		var left []string
		list, left, mended, err = j.drafted(ctx, &d, saying, mended)
		q := joining.Question{
			ID: joining.Introduce, Asks: "What may the operator learn?", Commands: []string{"party data columns " + console.Word(d.Name) + " --name NAME"},
			Why: "A study is drafted from the names and kinds of columns and, if you wish, the rounded number of records. Nothing else is said. " + j.leaves(),
			Forms: []string{"the name of this party in studies: north", "--id COLUMN: what identifies a record", "--uncounted: the number of records is not said",
				"--missing WORD, --date FORM, --values COLUMN=VALUE:READ, …: how values are read (party data change --help)"},
		}
		switch {
		case err != nil:
			q.Open = fail.Text(err)
		case saying.Name == "":
			q.Open = "the name of this party in studies"
		default:
			q.Proposed = "write it"
		}
		j.showIntroduction(d, saying, list, left, mended)
		done := false
		err = joining.Ask(ctx, j.ask, q, func(line string) error {
			if done = line == ""; done {
				return nil
			}
			next := introduction{}
			if err := console.TakeLine(&next, line); err != nil {
				return err
			}
			return saying.with(next, &d)
		})
		if err != nil {
			return console.AskedError(err)
		}
		if done {
			break
		}
	}
	d.ID = saying.ID
	if err := j.keep(d, known); err != nil {
		return err
	}
	if err := writeList(path, list.Text()); err != nil {
		return err
	}
	_, err = j.introduced(path)
	return err
}

// leaves says how an introduction gets to the operator.
func (j *joinRun) leaves() string {
	if j.ticket.IsZero() {
		return "Nothing is sent: you hand the file over."
	}
	return "It is sent to the aggregator, once, under invitation " + j.ticket.ID() + ", when you take it as it stands here."
}

// used reports whether there is no invitation left: none was given, or an earlier run used it.
func (j *joinRun) used() (bool, error) {
	if j.ticket.IsZero() {
		return true, nil
	}
	entries, err := j.st.Journal()
	return slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return e.Event == journal.Introduced && e.Note == j.ticket.ID()
	}), err
}

// handWithin is the timeout for sending an introduction.
const handWithin = time.Minute

// hand sends the introduction under the invitation. It can be repeated.
func (j *joinRun) hand(ctx context.Context) error {
	text, err := os.ReadFile(j.introductionPath())
	if err != nil {
		return fmt.Errorf("handing the introduction over: %w", err)
	}
	site, err := config.LoadParty(j.g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	used, err := j.used()
	if err == nil && !used { // journal first: nothing is sent that is not journaled
		err = j.st.Note(journal.Entry{At: console.Now(), Event: journal.Introduced, To: j.to.String(), Bytes: int64(len(text)), Note: j.ticket.ID()})
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, handWithin)
	defer cancel()
	o := aggregator.FetchOptions{Identity: j.st.Identity, Address: j.ticket.In(j.at), Network: site.Network, Version: console.Version()}
	if err := aggregator.Introduce(ctx, o, text); err != nil {
		return fmt.Errorf("handing the introduction over: %w", err)
	}
	j.say("The operator has the introduction, under invitation %s, and compares this node's words with you before accepting it.", j.ticket.ID())
	j.say("Waiting for a study that lists this party. Ctrl-C loses nothing: the same command goes on.")
	return nil
}

// with applies a line.
func (i *introduction) with(next introduction, d *config.Dataset) error {
	more, err := next.reading()
	if err != nil {
		return err
	}
	readAlso(d, more)
	if next.Name != "" {
		i.Name = next.Name
	}
	if len(next.ID) > 0 {
		i.ID = next.ID
	}
	i.Uncounted, i.Header = i.Uncounted || next.Uncounted, i.Header || next.Header
	return nil
}

// drafted returns the introduction so far, after reading the data with the proposed options.
func (j *joinRun) drafted(ctx context.Context, d *config.Dataset, saying introduction, mended []dataset.Problem) (list config.ColumnList, left []string, all []dataset.Problem, err error) {
	if len(saying.ID) == 0 {
		return list, nil, mended, errors.New("which columns identify a record: --id COLUMN")
	}
	for {
		held, more, err := j.look(ctx, d, dataset.DescribeOptions{ID: saying.ID, Normalize: normalization(nil)})
		mended = append(mended, more...)
		if err != nil {
			return list, nil, mended, err
		}
		if mend := dataset.Remedy(held.Problems); !mend.IsZero() && !reads(*d, mend) {
			mended = append(mended, held.Problems...)
			readAlso(d, mend)
			continue
		}
		list, left, err = dataColumns{Data: d.Name, Name: saying.Name, Header: saying.Header, Uncounted: saying.Uncounted}.list(j.g, held)
		return list, left, mended, err
	}
}

// showIntroduction shows the contents of the list.
func (j *joinRun) showIntroduction(d config.Dataset, saying introduction, list config.ColumnList, left []string, mended []dataset.Problem) {
	list.Name, list.Records = saying.Name, saying.ID // even if there is no list yet
	j.show(introductionFacts(d.Source.String(), list, left))
	j.showRemedied(d, mended)
}

// introductionFacts shows what a list contains and what it leaves out.
func introductionFacts(data string, list config.ColumnList, left []string) block.Block {
	facts := block.Facts{}
	add := func(name, text string) {
		if text != "" {
			facts.Items = append(facts.Items, block.Fact{Name: name, Text: text})
		}
	}
	add("Data", data)
	add("Name", list.Name)
	add("A record is known by", strings.Join(list.Records, ", "))
	if list.About > 0 {
		add("Records", fmt.Sprintf("about %d", list.About))
	}
	var columns []string
	for _, c := range list.Columns {
		columns = append(columns, fmt.Sprintf("%s (%s)", c.Name, c.Kind))
	}
	add("Columns", strings.Join(columns, ", "))
	add("Left out", strings.Join(left, ", "))
	add("Named anew", strings.Join(list.Made, ", "))
	return facts
}

// showRemedied shows which values are read differently than written.
func (j *joinRun) showRemedied(d config.Dataset, mended []dataset.Problem) {
	with, _ := options(reading(d))
	if len(mended) == 0 || with == "" {
		return
	}
	var items []string
	for _, p := range mended {
		if text := p.String(); !slices.Contains(items, text) {
			items = append(items, text)
		}
	}
	j.show(block.Text{Text: "Read otherwise than it is written:"}, block.List{Items: items}, block.Text{Text: "by the options"}, block.Command{Lines: []string{strings.TrimSpace(with)}})
}

// introduced says what to do with an existing introduction. It returns an error if there is none of
// this node.
func (j *joinRun) introduced(path string) (list config.ColumnList, err error) {
	if list, err = config.LoadColumns(path); err != nil {
		return list, err
	}
	if id, err := j.st.ID(); err != nil || id != list.ID {
		return list, fmt.Errorf("%s is of another node", path)
	}
	if !j.ticket.IsZero() {
		return list, nil
	}
	j.say("Send %s to the operator, who runs: aggregator invite FILE, with the files of all parties", path)
	j.say("Waiting for a study that lists this party. Ctrl-C loses nothing: the same command goes on.")
	return list, nil
}

// keep writes into the site file where data are and how they are read.
func (j *joinRun) keep(d config.Dataset, known bool) error {
	if !known {
		lines, err := config.AddDataset(j.g.Config, d, nil)
		if err != nil {
			return fail.Usage.Of(err)
		}
		j.say("The site file, %s, says now:\n%s", j.g.Config, lines)
		return nil
	}
	if reading(d).IsZero() {
		return nil
	}
	if _, err := config.SetReading(j.g.Config, d.Name, reading(d)); err != nil {
		return fail.Usage.Of(err)
	}
	return nil
}

// reading returns how a dataset is read.
func reading(d config.Dataset) dataset.Reading {
	return dataset.Reading{CSV: d.Source.CSV, Words: d.Source.Words}
}

// readAlso adds more to how a dataset is read.
func readAlso(d *config.Dataset, more dataset.Reading) {
	all := reading(*d).With(more)
	d.Source.CSV, d.Source.Words = all.CSV, all.Words
}

// reads reports whether a dataset is already read with more.
func reads(d config.Dataset, more dataset.Reading) bool {
	return reflect.DeepEqual(reading(d), reading(d).With(more))
}
