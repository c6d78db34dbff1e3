package local

import (
	"fmt"
	"math"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// SheetOptions are the inputs of a sheet.
type SheetOptions struct {
	Study    *study.Study
	Party    int        // index into Parties, or study.Everyone
	Records  int64      // of the party; 0 if unknown
	Spending []Spending // of the party's dataset, before and after the study; nil if no data are named
	Worth    []string   // forecast value of the answers; nil if there is no forecast
}

// Sheet is a study on one page, to be read and signed by whoever is responsible for a party's data.
// Explain is its long form.
type Sheet struct {
	Study   string     `json:"study"` // id
	Words   string     `json:"words"` // the id's beginning as words, to be read aloud
	Name    string     `json:"name"`
	Purpose string     `json:"purpose"`         // empty if the study does not say
	Party   string     `json:"party,omitempty"` // the party whose sheet it is; absent if it is for everybody
	Rows    []SheetRow `json:"rows"`
}

// SheetRow is one statement of a sheet.
type SheetRow struct {
	Key  SheetKey `json:"key"`
	Name string   `json:"name"`
	Says []string `json:"says"` // sentences
}

// SheetKey names a row, for programs.
type SheetKey string

// The rows of a sheet, in their order.
const (
	SheetPurpose     SheetKey = "purpose"
	SheetParties     SheetKey = "parties"
	SheetOperator    SheetKey = "operator"
	SheetRecipients  SheetKey = "recipients"
	SheetComputed    SheetKey = "computed"
	SheetLeaves      SheetKey = "leaves"
	SheetStays       SheetKey = "stays"
	SheetKept        SheetKey = "kept"
	SheetProtection  SheetKey = "protection"
	SheetStrength    SheetKey = "strength"
	SheetUnprotected SheetKey = "unprotected"
	SheetSpent       SheetKey = "spent"
	SheetWorth       SheetKey = "worth"
	SheetDates       SheetKey = "dates"
	SheetWithdraw    SheetKey = "withdraw"
	SheetNames       SheetKey = "names"
)

// NewSheet makes a sheet.
func NewSheet(o SheetOptions) (Sheet, error) {
	s := o.Study
	out := Sheet{Study: s.ID.String(), Words: s.ID.Words(), Name: s.Name, Purpose: s.Purpose}
	if o.Party != study.Everyone {
		out.Party = s.Parties[o.Party].Name
	}
	leaves, err := o.leaves()
	if err != nil {
		return Sheet{}, fmt.Errorf("making the sheet of study %s: %w", s.ID.Short(), err)
	}
	protection, strength, err := o.protection()
	if err != nil {
		return Sheet{}, fmt.Errorf("making the sheet of study %s: %w", s.ID.Short(), err)
	}
	add := func(key SheetKey, name string, says ...string) {
		if len(says) > 0 {
			out.Rows = append(out.Rows, SheetRow{key, name, says})
		}
	}
	add(SheetPurpose, "Purpose", told(s.Purpose, "The study does not say."))
	add(SheetParties, "Who takes part", o.parties()...)
	add(SheetOperator, "Who computes", "The operator of the aggregator, which has no data of its own"+office(s.Aggregator.By, ": ")+".")
	add(SheetRecipients, "Who gets results", o.recipients()...)
	add(SheetComputed, "What is computed", o.computed())
	add(SheetLeaves, "What leaves us", leaves...)
	add(SheetStays, "What never leaves", o.stays())
	add(SheetKept, "How long it is kept", o.kept())
	add(SheetProtection, "How people are protected", protection...)
	add(SheetStrength, "How strong that is", strength)
	add(SheetUnprotected, "What is not hidden", o.unprotected()...)
	add(SheetSpent, "What it spends", o.spent()...)
	add(SheetWorth, "What answers will be worth", few(o.Worth, 8, "by party study plan")...)
	add(SheetDates, "When", o.dates())
	add(SheetWithdraw, "Taking it back", o.withdraw())
	add(SheetNames, "Names to look at twice", s.ConfusableNames()...)
	return out, nil
}

func told(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// office names who is responsible for a node, after a sign; empty if unknown.
func office(o study.Office, sign string) string {
	parts := strings.Join(nonEmpty(o.Controller, o.Contact), ", ")
	if parts == "" {
		return ""
	}
	return sign + parts
}

func nonEmpty(texts ...string) (out []string) {
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// few shortens a list to what fits on a page, and says where the rest is.
func few(list []string, most int, where string) []string {
	if more := len(list) - most; more > 0 {
		return append(list[:most:most], fmt.Sprintf("And %d more, %s.", more, where))
	}
	return list
}

func (o SheetOptions) parties() (out []string) {
	for i, p := range o.Study.Parties {
		text := p.Name + office(p.By, ": ")
		if i == o.Party {
			text += " (this party)"
		}
		out = append(out, text+".")
	}
	return few(out, 12, "in the study file")
}

func (o SheetOptions) recipients() []string {
	out := []string{"All parties, and whom the operator lets read them."}
	if len(o.Study.Recipients) > 0 {
		out = append(out, "Then, as the study says: "+strings.Join(o.Study.Recipients, "; ")+".")
	}
	return out
}

func (o SheetOptions) computed() string {
	var kinds []string
	seen := map[study.AnalysisKind]bool{}
	for _, a := range o.Study.Analyses {
		if !seen[a.Kind] {
			seen[a.Kind] = true
			kinds = append(kinds, string(a.Kind))
		}
	}
	n := len(o.Study.Columns)
	if o.Party != study.Everyone {
		n = len(o.Study.OwnColumns(o.Party))
	}
	return fmt.Sprintf("%s, of %s. Nothing but what the sketches below answer can be asked later.", strings.Join(kinds, ", "), block.Counted(int64(n), "column", "columns"))
}

// leaves lists each released sketch with its size.
func (o SheetOptions) leaves() ([]string, error) {
	s := o.Study
	var out []string
	noise := map[bool]string{true: "with noise that was added here", false: "WITHOUT NOISE"}[s.Privacy.Mechanism != dp.None]
	for i, sk := range s.Sketches {
		size := ""
		if o.Party != study.Everyone && (sk.Side.Sums() || s.Merge(i) == study.Add || o.Records > 0) {
			p, err := release.For(s, o.Party, i)
			if err != nil {
				return nil, err
			}
			rows, cols := p.Shape(max(o.Records, 2))
			size = ", " + s.Sizes(rows*cols, rows*cols)
			if sk.Side == sketch.Codes {
				size = ", up to " + s.Sizes(s.MostCodeEntries(i), s.MostCodeEntries(i))
			}
		}
		each := "sums over all our records"
		if !sk.Side.Sums() && s.Merge(i) != study.Add {
			each = "one row of mixed numbers for each of our records"
		}
		out = append(out, fmt.Sprintf("Sketch %d of %d (%s): %s, %s%s.", i+1, len(s.Sketches), sk.Method(), each, noise, size))
	}
	out = append(out, "The number of our records.")
	return out, nil
}

func (o SheetOptions) stays() string {
	out := "The data themselves"
	if o.Study.Joins() {
		return out + ". Record ids leave as pseudonyms alone, made with a key that the parties agree on."
	}
	return out + ", and record ids in any form."
}

func (o SheetOptions) kept() string {
	if o.Study.KeepUntil == 0 {
		return "The study does not say: sketches stay at the aggregator until its operator removes them. Results stay."
	}
	return fmt.Sprintf("Sketches until %s; then the programs of the aggregator and of the parties remove them by themselves. Results stay.", node.Moment(o.Study.KeepUntil, 0))
}

// RightInHundred says how often a guess at what a budget protects is right, rounded up.
func RightInHundred(b dp.Budget) string {
	n := int(math.Ceil(100*b.Guess() - 1e-9))
	if n >= 100 {
		return "practically 100 times in 100"
	}
	return fmt.Sprintf("at most %d times in 100", n)
}

// protection describes the guarantee in words, and its strength.
func (o SheetOptions) protection() (says []string, strength string, err error) {
	s := o.Study
	if s.Privacy.Mechanism == dp.None {
		return []string{"It is not: the study adds no noise. Who knows how the numbers were mixed, as every party does, can compute values of single persons from them. It counts as unbounded in our ledger, for good."},
			"No: there is no protection to be measured.", nil
	}
	g, err := s.Privacy.Guarantee()
	if err != nil {
		return nil, "", err
	}
	change := "whether one person's values were used, or replaced by zeros"
	switch {
	case s.Privacy.Unit == dp.Attribute:
		change = "which of two values one person has in one column"
	case s.Privacy.Replaced:
		change = "which of two persons' records we have"
	}
	own := dp.Budget{Epsilon: g.Epsilon(), Delta: g.Delta()}
	says = []string{fmt.Sprintf("By what we send, somebody who knows all else can guess %s, and is right %s; 50 is pure chance.", change, RightInHundred(own))}
	if person, err := s.PerPerson(); err == nil && RightInHundred(person) != RightInHundred(own) {
		all := "all columns and all parties"
		switch {
		case s.Privacy.Unit != dp.Attribute:
			all = "all parties"
		case s.Partition == study.Horizontal:
			all = "all columns"
		}
		says = append(says, fmt.Sprintf("For %s together: %s.", all, RightInHundred(person)))
	}
	if s.Masked() {
		says = append(says, fmt.Sprintf("The aggregator sees only the sum of all parties, unless more than %s with it.", block.Counted(int64(s.Colluding), "party works", "parties work")))
	}
	budget := fmt.Sprintf("ε = %.4g", float64(g.Epsilon()))
	if g.Delta() > 0 {
		budget += fmt.Sprintf(", δ = %.2g", float64(g.Delta()))
	}
	scale := fmt.Sprintf("The scale: up to %.0f strong, up to %.0f usual, above it weak.", float64(dp.StrongAt), float64(dp.UsualAt))
	if s.PlainLabels() {
		return append(says, "LABELS LEAVE AS THEY ARE, one for each record: this holds for all other values."), "No: labels are not protected. For the rest " + budget + ", " + string(own.Strength()) + ". " + scale, nil
	}
	return says, strings.ToUpper(string(own.Strength())[:1]) + string(own.Strength())[1:] + ": " + budget + ". " + scale, nil
}

func (o SheetOptions) unprotected() []string {
	s := o.Study
	out := []string{"How many records we have, and that we take part."}
	if s.Privacy.Mechanism != dp.None && s.Privacy.Unit == dp.Attribute {
		out = append(out, "Whose records we hold, to somebody who knows enough other values of a person.")
	}
	switch {
	case s.TwoRounds() && s.Masked():
		out = append(out, "The sum of all parties' first rounds, with its noise: all parties read it.")
	case s.TwoRounds():
		out = append(out, "Our first round, with its noise: all parties read it, and not the aggregator alone.")
	}
	if s.Joins() {
		out = append(out, "Which records several parties hold: the aggregator sees that, and with any one party it can find out whose records we hold.")
	}
	return out
}

func (o SheetOptions) spent() (out []string) {
	if o.Spending == nil {
		if o.Party == study.Everyone {
			return nil
		}
		return []string{"Not known yet: the site file does not say which data the study is about (party data use)."}
	}
	value := func(e *float64) string {
		if e == nil {
			return "unbounded"
		}
		return fmt.Sprintf("%.4g", *e)
	}
	for _, x := range o.Spending {
		if x.Before != nil && x.After != nil && *x.Before == 0 && *x.After == 0 && x.Cap == nil {
			continue // no release of this unit
		}
		text := fmt.Sprintf("Of %s, by %s: ε %s before, %s after", x.Dataset, x.Unit, value(x.Before), value(x.After))
		switch {
		case x.Cap == nil:
			text += "; no limit is set"
		case x.Refused():
			text += fmt.Sprintf("; MORE THAN THE LIMIT of %.4g, so nothing will be sent", *x.Cap)
		default:
			text += fmt.Sprintf("; %.4g of the limit of %.4g would be left", *x.Cap-*x.After, *x.Cap)
		}
		out = append(out, text+".")
	}
	return out
}

func (o SheetOptions) dates() string {
	out := fmt.Sprintf("Approve or decline by %s; sketches are sent by %s", node.Moment(o.Study.Expires, 0), node.Moment(o.Study.Deadline, 0))
	if o.Study.LateUntil != 0 {
		out += fmt.Sprintf(", late ones by %s", node.Moment(o.Study.LateUntil, 0))
	}
	return out + "."
}

func (o SheetOptions) withdraw() string {
	return fmt.Sprintf("Until this party commits to the seed, which it does once enough parties have approved: party study withdraw %s. What was sent cannot be called back.", o.Study.ID.Short())
}

// Blocks shows the sheet, with lines for signatures.
func (s Sheet) Blocks() []block.Block {
	var facts block.Facts
	for _, row := range s.Rows {
		facts.Items = append(facts.Items, block.Fact{Name: row.Name, Text: strings.Join(row.Says, " ")})
	}
	out := []block.Block{facts}
	for _, who := range []string{"Data steward", "Privacy officer"} {
		out = append(out, block.Facts{Items: []block.Fact{{Name: who, Text: "name ________________  date __________  signature ________________"}}})
	}
	return append(out, block.Text{Tone: block.Soft, Text: fmt.Sprintf("Study %s; its first words: %s. Compare them with the other parties over a telephone before you sign.", s.Study, s.Words)})
}

// Headline is the page's title.
func (s Sheet) Headline() string {
	if s.Party == "" {
		return "What a party approves"
	}
	return "What " + s.Party + " approves"
}
