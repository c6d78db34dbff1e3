package local

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Assessment is a draft of a data protection impact assessment, in the parts that article 35 (7) of
// the General Data Protection Regulation requires. Facts that the product knows are filled in from
// the sheet; the organisation must fill in the rest.
type Assessment struct {
	Study string           `json:"study"` // id
	Name  string           `json:"name"`
	Party string           `json:"party,omitempty"` // the party whose draft it is; absent if it is for everybody
	Parts []AssessmentPart `json:"parts"`
}

// AssessmentPart is one part of an assessment.
type AssessmentPart struct {
	Title string           `json:"title"`
	Items []AssessmentItem `json:"items"`
}

// AssessmentItem is one required item.
type AssessmentItem struct {
	Name string   `json:"name"`
	Says []string `json:"says,omitempty"` // what the product knows
	Open string   `json:"open,omitempty"` // what the organisation must fill in
}

// NewAssessment drafts an assessment for the study of a sheet.
func NewAssessment(o SheetOptions) (Assessment, error) {
	sheet, err := NewSheet(o)
	if err != nil {
		return Assessment{}, err
	}
	known := func(name string, keys ...SheetKey) AssessmentItem {
		one := AssessmentItem{Name: name}
		for _, key := range keys {
			one.Says = append(one.Says, sheet.says(key)...)
		}
		return one
	}
	open := func(name, what string) AssessmentItem { return AssessmentItem{Name: name, Open: what} }
	both := func(one AssessmentItem, what string) AssessmentItem { one.Open = what; return one }
	purpose := known("Purpose", SheetPurpose)
	if o.Study.Purpose == "" {
		purpose = open("Purpose", "the purpose; the study does not say")
	}
	return Assessment{Study: sheet.Study, Name: sheet.Name, Party: sheet.Party, Parts: []AssessmentPart{
		{"The processing", []AssessmentItem{
			purpose,
			both(known("Controllers", SheetParties), "who else decides on purpose and means; joint controllers need an arrangement (article 26)"),
			both(known("Who computes", SheetOperator), "is the operator a processor, with a contract (article 28), or a controller"),
			open("Data subjects", "whom the records are about, and how many; children, patients or employees among them"),
			both(AssessmentItem{Name: "Categories of data", Says: o.categories()}, "which of them are special categories (article 9) or about offences (article 10)"),
			known("What is computed", SheetComputed), known("What leaves", SheetLeaves), known("What stays", SheetStays),
			both(known("Recipients", SheetRecipients), "recipients in third countries, and on which ground (chapter V)"),
			both(known("Storage", SheetKept), "how long this organisation keeps results, logs and backups"), known("Dates", SheetDates),
		}},
		{"Necessity and proportionality", []AssessmentItem{
			open("Legal basis", "article 6, and of special categories article 9; national law of research"),
			open("Compatible with why the data were collected", "articles 5 (1) b and 89"),
			both(AssessmentItem{Name: "Why less would not do", Says: []string{"No record and no value leaves. Only the columns listed here are read, and only what the sketches answer can be asked."}}, "why each column, and each analysis, is needed"),
			known("What answers will be worth", SheetWorth),
			open("Information of data subjects", "articles 13 and 14"),
			both(known("Rights of data subjects", SheetWithdraw), "how access, objection and erasure are handled before the data are sent"),
		}},
		{"Measures", []AssessmentItem{
			known("Noise", SheetProtection), known("How strong that is", SheetStrength), known("Limit on all studies together", SheetSpent),
			{Name: "Built in", Says: o.builtIn()},
			open("Of the organisation", "who may use the node and its data; encryption of disks and backups; training; incident response"),
		}},
		{"Risks that remain", o.risks(sheet)},
		{"Opinions and decision", []AssessmentItem{
			open("Data protection officer", "advice (article 35 (2)), name and date"),
			open("Data subjects or their representatives", "their views (article 35 (9)), or why they were not asked"),
			open("Supervisory authority", "is prior consultation needed, as the risk stays high (article 36)"),
			open("Decision", "go on, change, or not; name, date and signature of the controller"),
			open("Review", "when, and on which change"),
		}},
	}}, nil
}

// says returns the sentences of a row, or none if the sheet lacks it.
func (s Sheet) says(key SheetKey) []string {
	for _, row := range s.Rows {
		if row.Key == key {
			return row.Says
		}
	}
	return nil
}

// categories lists the study's columns of the party, or of all parties, and how records are
// identified.
func (o SheetOptions) categories() (out []string) {
	s := o.Study
	for i, c := range s.Columns {
		if o.Party != study.Everyone && s.Partition == study.Vertical && c.Owner != s.Parties[o.Party].Name {
			continue
		}
		text := fmt.Sprintf("%s (%s", c.Name, s.Columns[i].Kind)
		if c.Owner != "" && o.Party == study.Everyone {
			text += ", of " + c.Owner
		}
		out = append(out, text+").")
	}
	out = few(out, 60, "in the study file")
	return append(out, "Records are known by "+strings.Join(s.Records.ID, " and ")+", which is read and does not leave.")
}

// builtIn lists the measures of every study, and those of this one.
func (o SheetOptions) builtIn() []string {
	s := o.Study
	out := []string{
		"The party's own program makes the sketches, on its own machine. It dials out alone.",
		"Nodes know each other by keys that stewards compare; calls are encrypted by TLS 1.3, bundles by HPKE.",
		"A steward approves the study's file by its id, and a changed file is another study.",
	}
	if s.Privacy.Mechanism != dp.None {
		out = append(out, "A ledger debits the loss of privacy before noise is drawn, refuses what is beyond the limit, and cannot be set back unnoticed.")
	}
	if s.Masked() {
		out = append(out, "Masks hide each party's sums from the aggregator.")
	}
	return append(out, "The secret seed is destroyed after the release, but for what the study says is kept. Approvals, releases and decisions are in a log that is chained by hashes.")
}

// risks lists what others could still do or learn, each with a line for the organisation's
// assessment.
func (o SheetOptions) risks(sheet Sheet) (out []AssessmentItem) {
	s := o.Study
	const judge = "likelihood and severity for data subjects, and what is done about it"
	risk := func(name string, says ...string) { out = append(out, AssessmentItem{name, says, judge}) }
	risk("Somebody infers a person's data from what is sent", append(append([]string{}, sheet.says(SheetProtection)...), sheet.says(SheetStrength)...)...)
	risk("What is not hidden", sheet.says(SheetUnprotected)...)
	collude := "The aggregator and any one party together know the projection: then the noise alone protects."
	if s.Privacy.Mechanism == dp.None {
		collude = "The aggregator and any one party together know the projection, and there is no noise: they compute values of single persons."
	}
	risk("The aggregator and a party work together", collude)
	risk("Results say what is true of a group", "That smokers fall ill more often is a result, also for a smoker who is in no data.")
	risk("A person is in the data of several organisations, or in several records", "Each release adds to the loss of that person. The ledger counts it by dataset, and knows the same people only where place or ids tell.")
	risk("Results are wrong or misread", "A party can lie about its data, and the aggregator about the answer. Every number has an interval.")
	risk("A machine or a backup is stolen", "The node's keys are in files that only their user can read, and are not encrypted by the program.")
	if len(sheet.says(SheetNames)) > 0 {
		risk("Names in the study that may mislead", sheet.says(SheetNames)...)
	}
	return out
}

// Headline is the page's title.
func (a Assessment) Headline() string { return "Data protection impact assessment, draft" }

// Blocks shows the assessment, with blank lines to fill in.
func (a Assessment) Blocks() []block.Block {
	of := "all parties"
	if a.Party != "" {
		of = a.Party
	}
	out := []block.Block{block.Text{Text: fmt.Sprintf("Filled in for %s from the file of study %s and from this node. “TO FILL IN” stands where only the organisation knows. It is no legal advice.", of, a.Study)}}
	for i, part := range a.Parts {
		facts := block.Facts{}
		for _, item := range part.Items {
			text := strings.Join(item.Says, " ")
			if item.Open != "" {
				text = strings.TrimSpace(text + " TO FILL IN: " + item.Open + ".")
			}
			if text != "" {
				facts.Items = append(facts.Items, block.Fact{Name: item.Name, Text: text})
			}
		}
		out = append(out, block.Heading{ID: fmt.Sprintf("part-%d", i+1), Text: fmt.Sprintf("%d. %s", i+1, part.Title)}, facts)
	}
	return out
}
