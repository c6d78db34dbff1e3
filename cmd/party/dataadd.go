package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/study"
)

type dataAdd struct {
	Name         string            `arg:"" help:"The dataset's name; the ledger keeps its budget under it."`
	File         []string          `arg:"" optional:"" help:"CSV (also gzip or zstd), .parquet or .xlsx; several files, or a pattern like visits/*.csv, are one dataset. Or an SQLite database, with --query."`
	Query        string            `env:"-" placeholder:"SELECT" help:"The records of a database: one SELECT, whose columns have names."`
	DSNEnv       string            `name:"dsn-env" env:"-" xor:"dsn" placeholder:"NAME" help:"PostgreSQL: the environment variable that holds the data source name, a secret, whenever the data are read."`
	DSNFile      string            `name:"dsn-file" env:"-" xor:"dsn" placeholder:"FILE" help:"PostgreSQL: a file that holds it and that only its owner can read."`
	Command      string            `env:"-" placeholder:"WORDS" help:"A program that writes the data as CSV to standard output, with its arguments; quotes keep a word together, and no shell sees them. It has this node's rights, and is run in the site file's directory whenever the data are read."`
	Elsewhere    string            `env:"-" placeholder:"WHERE" help:"Where data are that this node does not read, in words: workers there make parts of sketches (party advanced part)."`
	ID           []string          `env:"-" placeholder:"COLUMN" help:"Columns that together identify a record. Default: those that the study names."`
	CapRecord    string            `env:"-" placeholder:"EPSILON,DELTA" help:"The most that all studies together may spend under unit record."`
	CapAttribute string            `env:"-" placeholder:"EPSILON[,DELTA]" help:"The same under unit attribute."`
	ApartFrom    map[string]string `env:"-" mapsep:"none" placeholder:"DATASET=REASON" help:"Why these are other people than those of a dataset with the same place or record ids. Once for each."`
	Study        string            `env:"-" placeholder:"STUDY" help:"Also use it for this study: the beginning of a study's id."`

	sheetFlag
	readingFlags
}

// Help says what is changed.
func (dataAdd) Help() string {
	return "Reads all the data, then adds them to the site file in place; comments and order stay.\n\nExamples:\n\n  party data add patients patients.csv --id patient --cap-record 2,1e-6\n  party data add visits clinic.db --query 'SELECT patient, age FROM visits'\n  party data add visits --dsn-env CLINIC_DSN --query 'SELECT patient, age FROM visits'\n  party data add visits --command 'duckdb -csv clinic.duckdb \"SELECT * FROM visits\"'\n  party data add lake --elsewhere 'national lake, by month' --id patient --cap-record 2,1e-6"
}

type addedData struct {
	Dataset string `json:"dataset"`
	Config  string `json:"config"`
	Records int64  `json:"records"`
	Columns int    `json:"columns"`
	Lines   string `json:"lines"` // lines of the site file for it

	Problems []shownProblem `json:"problems"` // that keep studies from using the data
}

// Run reads the data, then changes the site file.
func (cmd dataAdd) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	d, answers, err := cmd.dataset(g)
	if err != nil {
		return err
	}
	site, err := config.LoadParty(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	if _, exists := site.Datasets[d.Name]; exists {
		return fail.Usage.Of(fmt.Errorf("dataset %q is in %s already: choose another name, or change it there (its caps: party advanced budget cap %s record EPSILON DELTA)", d.Name, site.Path, d.Name))
	}
	if err := cmd.alike(d, site); err != nil {
		return fail.Usage.Of(err)
	}
	if d.Source.Elsewhere != "" {
		return cmd.unread(c, site, d)
	}
	if d.Source.Command != nil {
		d.Source.Command.Dir = filepath.Dir(site.Path)
	}
	held, err := described(ctx, c, d, dataset.DescribeOptions{ID: identified(d, answers), Normalize: normalization(answers)})
	if err != nil {
		return err
	}
	found := problems{held.Problems, cmd.again()}
	if err := found.stopping(d.Source); err != nil {
		found.tell(c)
		return err
	}
	found.command = "party data change " + console.Word(d.Name)
	var id *protocol.StudyID
	if answers != nil {
		id = &answers.ID
	}
	lines, err := config.AddDataset(site.Path, d, id)
	if err != nil {
		return fail.Usage.Of(err)
	}
	out := addedData{Dataset: d.Name, Config: site.Path, Records: held.Records, Columns: len(held.Columns), Lines: lines, Problems: found.document()}
	return c.Print(out, func(w io.Writer) {
		io.WriteString(w, lines)
		c.Say("%d records of %d columns can be read, and %s has these lines now.", out.Records, out.Columns, out.Config)
		if text := doubts(held.Columns); text != "" {
			c.Say("%s", text)
		}
		if held.IDs != nil && held.IDs.Repeated+held.IDs.Absent > 0 {
			c.Say("%s. Studies refuse such data.", idText(*held.IDs))
		}
		if len(found.list) > 0 {
			c.Say("A study would refuse:")
			found.tell(c)
		}
		cmd.printCap(c, d)
		if answers != nil {
			c.Say("Next: party data check %s", answers.ID.Short())
			return
		}
		c.Say("Next: party data show %s; then party data use %s STUDY where a study asks for them, or party data columns %s --name YOUR-NAME for whoever writes the study file.", d.Name, d.Name, d.Name)
	})
}

// unread adds data that are elsewhere to the site file.
func (cmd dataAdd) unread(c *console.Console, site config.Party, d config.Dataset) error {
	lines, err := config.AddDataset(site.Path, d, nil)
	if err != nil {
		return fail.Usage.Of(err)
	}
	return c.Print(addedData{Dataset: d.Name, Config: site.Path, Lines: lines, Problems: []shownProblem{}}, func(w io.Writer) {
		io.WriteString(w, lines)
		c.Say("Nothing was read, and %s has these lines now.", site.Path)
		cmd.printCap(c, d)
		c.Say("Next: party data use %s STUDY where a study asks for them; when party run waits, party advanced sketch STUDY --job FILE, and party advanced part where the data are.", d.Name)
	})
}

// printCap says that nothing is released of data without a cap.
func (dataAdd) printCap(c *console.Console, d config.Dataset) {
	if d.Caps == (config.Caps{}) {
		c.Say("It has no cap, and so nothing of it is released with noise: party advanced budget cap %s record EPSILON DELTA sets one.", d.Name)
	}
}

// alike refuses data that are there under another name: their budget is kept under that one.
func (dataAdd) alike(d config.Dataset, site config.Party) error {
	for name, reason := range d.ApartFrom {
		if strings.TrimSpace(reason) == "" {
			return fmt.Errorf("--apart-from %s=: say why these are other people than those of dataset %q", name, name)
		}
	}
	place := func(of dataset.Source) people.Sample { return people.NewSampler([32]byte{}, of).Sample() }
	for _, name := range slices.Sorted(maps.Keys(site.Datasets)) {
		if _, apart := d.ApartFrom[name]; !apart && place(d.Source).Compare(place(site.Datasets[name].Source)) == people.SamePlace {
			return fmt.Errorf("dataset %q is in the same place, and the budget of its people is kept under that name: use it (party data use %s STUDY), or give --apart-from %s=REASON if these are other people", name, name, name)
		}
	}
	return nil
}

// dataset returns the described dataset, and the study that it answers, if any.
func (cmd dataAdd) dataset(g *console.Globals) (d config.Dataset, answers *study.Study, err error) {
	usage := func(format string, args ...any) error {
		return fail.Usage.Of(fmt.Errorf(format, args...))
	}
	if cmd.Name == "" || len(cmd.Name) > ledger.MaxDataset {
		return d, nil, usage("the dataset's name has %d bytes, want 1 to %d", len(cmd.Name), ledger.MaxDataset)
	}
	d = config.Dataset{Name: cmd.Name, ID: cmd.ID, ApartFrom: cmd.ApartFrom}
	if d.Source, err = cmd.source(); err != nil {
		return d, nil, fail.Usage.Of(err)
	}
	if d.Caps.Record, err = budgetOf(cmd.CapRecord, dp.Record); err != nil {
		return d, nil, usage("--cap-record: %w", err)
	}
	if d.Caps.Attribute, err = budgetOf(cmd.CapAttribute, dp.Attribute); err != nil {
		return d, nil, usage("--cap-attribute: %w", err)
	}
	if cmd.Study == "" {
		return d, nil, nil
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return d, nil, err
	}
	defer st.Close()
	if answers, err = console.FindStudy(st, cmd.Study); err == nil {
		_, err = self(st, answers)
	}
	return d, answers, err
}

// again is the command without the options for reading, so that others can be appended.
func (cmd dataAdd) again() string {
	text := "party data add " + console.Word(cmd.Name)
	for _, file := range cmd.File {
		text += " " + console.Word(file)
	}
	for _, f := range [][2]string{{"--query", cmd.Query}, {"--dsn-env", cmd.DSNEnv}, {"--dsn-file", cmd.DSNFile}, {"--command", cmd.Command}, {"--elsewhere", cmd.Elsewhere}, {"--id", strings.Join(cmd.ID, ",")}, {"--cap-record", cmd.CapRecord}, {"--cap-attribute", cmd.CapAttribute}, {"--study", cmd.Study}} {
		if f[1] != "" {
			text += " " + f[0] + " " + console.Word(f[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cmd.ApartFrom)) {
		text += " --apart-from " + console.Word(name+"="+cmd.ApartFrom[name])
	}
	said, _ := cmd.reading() // checked before
	with, _ := options(said)
	return text + cmd.sheetFlag.again() + with
}

// source is the place of the data, as an absolute path: the site file is in another directory.
func (cmd dataAdd) source() (s dataset.Source, err error) {
	said, err := cmd.reading()
	if err != nil {
		return s, err
	}
	s.CSV, s.Words, s.Sheet = said.CSV, said.Words, cmd.Sheet
	files := append(slices.Clone(cmd.File), cmd.DSNFile)
	for i, name := range files {
		if name == "" {
			continue
		}
		if files[i], err = filepath.Abs(name); err != nil {
			return s, fmt.Errorf("finding %s: %w", name, err)
		}
	}
	s.Files = files[:len(cmd.File)]
	if cmd.Elsewhere != "" {
		switch {
		case len(s.Files) > 0 || cmd.Query != "" || cmd.DSNEnv+cmd.DSNFile+cmd.Command != "":
			return s, errors.New("--elsewhere is where the data are, and so is a file, a --query or a --command: name one of them")
		case cmd.Study != "":
			return s, fmt.Errorf("--study is for data that this node reads: afterwards, party data use %s %s", console.Word(cmd.Name), console.Word(cmd.Study))
		}
		s.Files, s.Elsewhere = nil, cmd.Elsewhere
		return s, nil
	}
	if cmd.Command != "" {
		if len(s.Files) > 0 || cmd.Query != "" || cmd.DSNEnv+cmd.DSNFile != "" {
			return s, errors.New("--command is where the data are, and so is a file or a --query: name one of them")
		}
		return s, cmd.program(&s)
	}
	server := cmd.DSNEnv != "" || cmd.DSNFile != ""
	switch {
	case !server && cmd.Query == "" && len(s.Files) == 0:
		return s, errors.New("which data? Name a file; or an SQLite database, or --dsn-env or --dsn-file of PostgreSQL, with --query")
	case !server && cmd.Query == "":
		return s, nil
	case s.CSV != (dataset.Dialect{}):
		return s, errors.New("--delimiter, --decimal, --thousands, --encoding and --date are about CSV files, and --query about a database")
	case cmd.Query == "":
		return s, errors.New("what of the database are the records? Say so with --query 'SELECT …'")
	case server && len(s.Files) > 0, !server && len(s.Files) != 1:
		return s, errors.New("--query asks one database: an SQLite file, or PostgreSQL by --dsn-env or --dsn-file")
	}
	s.SQL = &dataset.SQL{Driver: dataset.PostgreSQL, DSN: dataset.Secret{Env: cmd.DSNEnv, File: files[len(cmd.File)]}, Query: cmd.Query}
	if !server {
		s.SQL = &dataset.SQL{Driver: dataset.SQLite, Database: s.Files[0], Query: cmd.Query}
	}
	s.Files = nil
	return s, nil
}

// program is the command with its program's full path: a service has another PATH than a shell.
func (cmd dataAdd) program(s *dataset.Source) (err error) {
	s.Files, s.Command = nil, &dataset.Command{}
	if s.Command.Args, err = console.WordsOf(cmd.Command); err != nil {
		return err
	}
	path, err := exec.LookPath(s.Command.Args[0])
	if err == nil {
		s.Command.Args[0], err = filepath.Abs(path)
	}
	if err != nil {
		return fmt.Errorf("--command: %w", err)
	}
	return nil
}

// budgetOf parses EPSILON[,DELTA]; empty text means no cap.
func budgetOf(text string, unit dp.Unit) (b config.Budget, err error) {
	if text == "" {
		return b, nil
	}
	first, second, both := strings.Cut(text, ",")
	epsilon, err := strconv.ParseFloat(first, 64)
	delta := 0.0
	if err == nil && both {
		delta, err = strconv.ParseFloat(second, 64)
	}
	if err != nil || !(epsilon > 0) {
		return b, fmt.Errorf("want an ε above 0, and perhaps a δ: 2 or 2,1e-6, not %.40q", text)
	}
	if unit == dp.Record && !both {
		return b, noDelta(text+",1e-6", text+",0")
	}
	return config.Budget{Epsilon: dp.Epsilon(epsilon), Delta: dp.Delta(delta)}, nil
}

// identified names the columns that identify a record: the dataset's, or else the study's.
func identified(d config.Dataset, s *study.Study) []string {
	if len(d.ID) > 0 || s == nil {
		return d.ID
	}
	return s.Records.ID
}

// normalization is the study's, or else the default of study files.
func normalization(s *study.Study) []study.Normalization {
	if s == nil {
		return []study.Normalization{study.NormalizeNFC, study.NormalizeTrim}
	}
	return s.Records.Normalize
}

// idText says which records share an id.
func idText(d dataset.IDDescription) string {
	var parts []string
	if d.Repeated > 0 {
		text := fmt.Sprintf("Records whose id an earlier one has: %d (%s", d.Repeated, strings.Join(d.Where, ", "))
		if more := d.Repeated - int64(len(d.Where)); more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		parts = append(parts, text+")")
	}
	if d.Absent > 0 {
		parts = append(parts, fmt.Sprintf("Records without an id: %d (the first: %s)", d.Absent, d.First))
	}
	if parts == nil {
		return "No record id is repeated"
	}
	return strings.Join(parts, ". ")
}
