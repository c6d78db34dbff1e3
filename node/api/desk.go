package api

import (
	"context"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// Operator is what a program with a token of scope StudiesWrite may do in the operator's place. Its
// methods are safe for concurrent use, and repeating a call changes nothing more.
type Operator interface {
	// Draft drafts a study file from the column lists of its parties. Nothing is stored.
	Draft(DraftRequest) (Draft, error)
	// Check returns what Host would for a study file. Nothing is stored.
	Check(source []byte) (Hosted, error)
	// Host checks a study file and hosts the study.
	Host(source []byte) (Hosted, error)
	// Cancel ends a study that has no result.
	Cancel(ctx context.Context, id protocol.StudyID, reason string) (Cancelled, error)
}

// DraftRequest has the inputs of a draft: those of the flags of aggregator study draft.
type DraftRequest struct {
	Name      string   `json:"name" doc:"the study's"`
	Partition string   `json:"partition" doc:"vertical or horizontal"`
	Lists     []string `json:"lists" doc:"the parties' column lists, each the text that party data columns writes"`
	Ask       []string `json:"ask" doc:"analyses as the study file has them: correlation, or {kind: k-means, clusters: 3}"`
	Columns   []string `json:"columns,omitempty" doc:"columns whatever the lists say: {name: age, kind: numeric, centre: 47, spread: 21}"`
	Records   string   `json:"records,omitempty" doc:"about how many records each party has: N, or NAME=N,…; else what the lists say"`
	Rounds    int      `json:"rounds,omitempty" doc:"1 or 2, for k-means; else as the forecast has it"`
	Masked    bool     `json:"masked,omitempty" doc:"the aggregator sees sums over all parties alone"`
	Epsilon   string   `json:"epsilon,omitempty" doc:"of one party's releases; else 1 for whole records, 8 for single values"`
	Addrs     []string `json:"addrs,omitempty" doc:"multiaddrs at which parties reach this aggregator"`
	Approval  int      `json:"approval_days,omitempty" doc:"until approval closes; else 14"`
	Upload    int      `json:"upload_days,omitempty" doc:"from then until upload closes; else 14"`
}

// Draft is a study file, possibly with gaps.
type Draft struct {
	File    string       `json:"file" doc:"the study file"`
	Parties []DraftParty `json:"parties"`
	Open    []string     `json:"open" doc:"what is to be filled in"`
	Decided []string     `json:"decided" doc:"where the parties' lists differ, and what the draft says"`
}

// DraftParty is a party of a draft.
type DraftParty struct {
	Name    string `json:"name"`
	ID      string `json:"id" doc:"peer id"`
	Words   string `json:"words" doc:"its fingerprint, to be compared over a telephone"`
	Records int64  `json:"records" doc:"about how many it has; 0 where nobody said"`
}

// Hosted is a study that is hosted, or could be.
type Hosted struct {
	Study    string         `json:"study" doc:"its id"`
	Name     string         `json:"name"`
	Before   bool           `json:"before" doc:"it was here already"`
	Useless  bool           `json:"useless" doc:"no answer would be usable: parties approve it only with --although-useless"`
	Forecast []ForecastItem `json:"forecast"`
}

// ForecastItem is the plan's forecast for one analysis.
type ForecastItem struct {
	Analysis string `json:"analysis"`
	Usable   bool   `json:"usable"`
	Verdict  string `json:"verdict"`
}

// cancelRequest is the body of a cancellation.
type cancelRequest struct {
	Reason string `json:"reason,omitempty" doc:"a line that every party is shown; at most 300 bytes"`
}

// Cancelled is the state of a study after Cancel.
type Cancelled struct {
	Study  string `json:"study"`
	Name   string `json:"name"`
	At     string `json:"at"`
	Reason string `json:"reason" doc:"as the board has it"`
	Before bool   `json:"before" doc:"it was stopped before"`
}

// Limits of writing requests: how large, and how many at once.
const (
	mostWriters = 4
	mostDraft   = 4 << 20 // bytes of a request
	mostStudy   = file.MaxSource
	mostCancel  = 4 << 10
	mediaJSON   = "application/json"
	mediaYAML   = "application/yaml"
)
