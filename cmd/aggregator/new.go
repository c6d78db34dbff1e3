package main

import (
	"bufio"
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
	"github.com/cosketch/cosketch/protocol/study"
)

type studyNew struct {
	Output    string   `short:"o" required:"" placeholder:"FILE" env:"-" help:"The study file to write; it must not exist."`
	Columns   []string `required:"" placeholder:"FILE" env:"-" help:"A party's column list, as party data columns writes it; once for each party."`
	Name      string   `env:"-" help:"The study's name. Asked for where it is left out."`
	Partition string   `env:"-" enum:"vertical,horizontal," default:"" help:"vertical: same people, other columns; horizontal: same columns, other people. Asked for where it is left out."`
	Ask       []string `env:"-" sep:"none" placeholder:"ANALYSIS" help:"What is asked, as the study file has it: correlation, or {kind: k-means, clusters: 3}. Once for each. Asked for where it is left out."`
	Epsilon   string   `env:"-" help:"The ε of one party's releases. Default: 1 for whole records, 8 for single values."`
	Addr      []string `env:"-" placeholder:"MULTIADDR" help:"Where parties reach this aggregator. Default: a place to fill in."`
	Approval  int      `env:"-" default:"14" placeholder:"DAYS" help:"Days until approval closes. Default: 14."`
	Upload    int      `env:"-" default:"14" placeholder:"DAYS" help:"Days from then until upload closes. Default: 14."`
}

// Help says what comes next.
func (studyNew) Help() string {
	return "Writes a commented study file from what the parties say of their columns. What only people know, bounds and lists of values that are public, stands there to be filled in.\n\nExample: aggregator study new --columns north.yaml --columns south.yaml --name registry --partition vertical --ask correlation -o study.yaml"
}

type drafted struct {
	File string   `json:"file"`
	Open []string `json:"open"` // what is to be filled in
}

// Run drafts a study file.
func (cmd studyNew) Run(c *console.Console, g *console.Globals) error {
	if cmd.Approval < 1 || cmd.Upload < 1 {
		return console.WithCode(console.Usage, errors.New("drafting: approval and upload take at least one day each"))
	}
	d, err := cmd.draft(c, g)
	if err != nil {
		return err
	}
	text, open, err := d.Text()
	if err != nil {
		return console.WithCode(console.Usage, fmt.Errorf("drafting study %s: %w", d.Name, err))
	}
	if len(cmd.Addr) == 0 {
		open = append(open, "aggregator: addrs, where parties reach this node")
	}
	f, err := os.OpenFile(cmd.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return console.WithCode(console.Usage, fmt.Errorf("writing the study file: %w", err))
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the study file: %w", err)
	}
	return c.Print(drafted{cmd.Output, slices.Concat([]string{}, open)}, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		for _, o := range open {
			c.Say("to be filled in: %s", o)
		}
		c.Say("Next: aggregator study plan %s, then aggregator study create %s", cmd.Output, cmd.Output)
	})
}

// placeholder stands for an address that nobody has given.
const placeholder = "/dns4/YOUR-HOST/tcp/7424"

// draft gathers what is known, and asks a person for the rest.
func (cmd studyNew) draft(c *console.Console, g *console.Globals) (study.Draft, error) {
	d := study.Draft{Epsilon: cmd.Epsilon, Analyses: cmd.Ask}
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return d, err
	}
	defer st.Close()
	id, err := st.ID()
	if err != nil {
		return d, err
	}
	d.Aggregator = study.DraftAggregator{ID: id, HPKE: base64.StdEncoding.EncodeToString(st.HPKE().PublicKey().Bytes()), Addrs: cmd.Addr}
	if len(cmd.Addr) == 0 {
		d.Aggregator.Addrs = []string{placeholder}
	}
	if _, err := rand.Read(d.Nonce[:]); err != nil {
		return d, fmt.Errorf("drawing a nonce: %w", err)
	}
	for _, path := range cmd.Columns {
		l, err := config.LoadColumns(path)
		if err != nil {
			return d, console.WithCode(console.Usage, err)
		}
		if len(d.Records) > 0 && !slices.Equal(d.Records, l.Records) {
			c.Say("%s identifies records by %s, and the parties before it by %s: the study says %s, and each site file may map its own.", l.Name, strings.Join(l.Records, ", "), strings.Join(d.Records, ", "), strings.Join(d.Records, ", "))
		} else {
			d.Records = l.Records
		}
		d.Parties = append(d.Parties, study.DraftParty{Name: l.Name, ID: l.ID, Columns: l.Columns})
	}
	day := int64(24 * time.Hour / time.Second)
	d.Expires = console.Now() + protocol.Instant(int64(cmd.Approval)*day)
	d.Deadline = d.Expires + protocol.Instant(int64(cmd.Upload)*day)
	in := bufio.NewReader(c.In)
	if d.Name, err = asked(c, in, cmd.Name, "name", "What is the study called?"); err != nil {
		return d, err
	}
	partition, err := asked(c, in, cmd.Partition, "partition", "Do the parties hold other columns of the same people (vertical), or the same columns of other people (horizontal)?")
	if err != nil {
		return d, err
	}
	if d.Partition = study.Partition(partition); d.Partition != study.Vertical && d.Partition != study.Horizontal {
		return d, console.WithCode(console.Usage, fmt.Errorf("partition %.40q: want vertical or horizontal", partition))
	}
	if len(d.Analyses) == 0 {
		words, err := asked(c, in, "", "ask", "What is asked? Kinds of analysis, separated by spaces, such as: correlation intersection")
		if err != nil {
			return d, err
		}
		d.Analyses = strings.Fields(words)
	}
	return d, nil
}

// asked returns what a flag says, or what a person answers.
func asked(c *console.Console, in *bufio.Reader, given, flag, question string) (string, error) {
	if given != "" {
		return given, nil
	}
	if !c.Interactive() {
		return "", console.WithCode(console.Usage, fmt.Errorf("drafting: --%s is missing, and there is no terminal to ask at", flag))
	}
	fmt.Fprintf(c.Err, "%s\n> ", question)
	line, err := in.ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		return "", console.WithCode(console.Usage, errors.Join(fmt.Errorf("drafting: no answer (or give --%s)", flag), err))
	}
	return line, nil
}
