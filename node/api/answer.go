package api

import (
	"encoding/base64"
	"math"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// The answers of version 1, as JSON. Fields may be added, but never renamed, removed or given
// another meaning: that would be version 2.

type nodeAnswer struct {
	Software   string `json:"software" doc:"always cosketch"`
	Version    string `json:"version"`
	Aggregator string `json:"aggregator" doc:"peer id"`
	API        string `json:"api" doc:"the version of this API"`
	Now        string `json:"now" doc:"the aggregator's clock, by which dates are judged"`
}

type studiesAnswer struct {
	Studies []summary `json:"studies"`
	Next    *string   `json:"next" doc:"the cursor of the next page; null on the last one"`
}

// summary is a study in the list.
type summary struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Added     string          `json:"added"`
	Partition study.Partition `json:"partition"`
	Status    statusAnswer    `json:"status"`
	Parties   int             `json:"parties"`
	Released  int             `json:"released" doc:"parties whose release is, or was until it was purged, wholly here"`
	Results   int             `json:"results"`
}

type statusAnswer struct {
	State    string    `json:"state" doc:"added, open, agreeing, collecting, computing, computed, closed, stopped, or damaged where it cannot be read"`
	Ended    bool      `json:"ended"`
	Wait     *string   `json:"wait" doc:"a code for what it waits for; null: nothing"`
	WaitsFor *string   `json:"waits_for" doc:"that, in words"`
	From     []string  `json:"from" doc:"who owes it, by name"`
	Until    *string   `json:"until" doc:"null: no date ends the wait"`
	Failure  *string   `json:"failure" doc:"why it ended without a result"`
	Reason   *string   `json:"reason" doc:"of a study that was stopped: why, without by whom and when"`
	Cause    *string   `json:"cause" doc:"the code of that: approvals, agreement, releases or operator"`
	Trouble  *string   `json:"trouble" doc:"why it is not served for the time being"`
	Grace    *string   `json:"grace" doc:"a date has passed that does not count yet, and until when"`
	Faults   []string  `json:"faults" doc:"why attempts at agreeing on the seed ended"`
	Culprits []culprit `json:"culprits"`
	Doing    *Doing    `json:"doing" doc:"the analysis that is being computed, where this process does that"`
}

// culprit is who caused the end of an attempt or of the study.
type culprit struct {
	Name     string `json:"name"`
	ID       string `json:"id" doc:"peer id"`
	Standing string `json:"standing" doc:"proved, claimed (by the aggregator) or seen"`
	What     string `json:"what"`
}

type studyAnswer struct {
	ID         string           `json:"id" doc:"SHA-256 of the study file"`
	Name       string           `json:"name"`
	Meaning    string           `json:"meaning" doc:"hash of what was parsed, which every approval signs"`
	Added      string           `json:"added"`
	Partition  study.Partition  `json:"partition"`
	Quorum     int              `json:"quorum"`
	Expires    string           `json:"expires" doc:"approval closes"`
	Deadline   string           `json:"deadline" doc:"upload closes"`
	LateUntil  *string          `json:"late_until" doc:"late parties may join until then"`
	Status     statusAnswer     `json:"status"`
	Parties    []partyAnswer    `json:"parties"`
	Columns    []columnAnswer   `json:"columns"`
	Privacy    privacyAnswer    `json:"privacy"`
	Sketches   []sketchAnswer   `json:"sketches"`
	Analyses   []analysisAnswer `json:"analyses"`
	Later      []string         `json:"later" doc:"kinds of analyses that may be asked afterwards"`
	Results    []statement      `json:"results"`
	Lost       []string         `json:"lost" doc:"further results that cannot be read any more, and why"`
	Messages   uint64           `json:"messages" doc:"on the board"`
	BoardChain string           `json:"board_chain" doc:"hash chain over all of them"`
	Purged     bool             `json:"purged" doc:"the sketches were removed; results stay"`
}

type partyAnswer struct {
	Name     string   `json:"name"`
	ID       string   `json:"id" doc:"peer id"`
	Steps    []string `json:"steps" doc:"approved, committed, shared, confirmed, sketched (its release is described), released (it was wholly here): those that it took"`
	Release  *string  `json:"release" doc:"id of the release's header"`
	Received int64    `json:"received" doc:"bytes of the release that are here"`
	Bytes    int64    `json:"bytes" doc:"of the whole release; 0 before its header"`
}

type columnAnswer struct {
	Name  string           `json:"name"`
	Kind  study.ColumnKind `json:"kind"`
	Owner *string          `json:"owner" doc:"vertical studies: the party that holds it"`
}

type privacyAnswer struct {
	Unit             string   `json:"unit" doc:"attribute, record, or none without a promise"`
	Mechanism        string   `json:"mechanism"`
	Epsilon          *float64 `json:"epsilon" doc:"of all of one party's releases in the study; null without a promise"`
	Delta            *float64 `json:"delta"`
	EpsilonPerPerson *float64 `json:"epsilon_per_person" doc:"of all releases about one person; null where it is unbounded"`
	DeltaPerPerson   *float64 `json:"delta_per_person"`
	Replaced         bool     `json:"replaced" doc:"a record may be replaced by another, not by zeros alone"`
}

type sketchAnswer struct {
	Side   string `json:"side"`
	Method string `json:"method" doc:"how records are compressed, in words"`
}

type analysisAnswer struct {
	Kind    study.AnalysisKind `json:"kind"`
	Options string             `json:"options" doc:"as the study file has them"`
}

type releasesAnswer struct {
	Releases []releaseAnswer `json:"releases"`
}

type releaseAnswer struct {
	ID       string           `json:"id"`
	Party    string           `json:"party"`
	Records  int64            `json:"records"`
	Bytes    int64            `json:"bytes"`
	Received int64            `json:"received"`
	Sketches []releasedSketch `json:"sketches"`
}

type releasedSketch struct {
	Side       string   `json:"side"`
	Rows       int64    `json:"rows"`
	Cols       int64    `json:"cols"`
	Width      int      `json:"width" doc:"bytes of one entry"`
	Bytes      int64    `json:"bytes"`
	RowColumns []string `json:"row_columns" doc:"what is there for each row beside its entries"`
	Chunks     []string `json:"chunks" doc:"SHA-256 of each 4 MiB"`
}

type resultsAnswer struct {
	Results []statement `json:"results"`
}

type statement struct {
	Name     string               `json:"name" doc:"SHA-256 of the document"`
	Current  bool                 `json:"current" doc:"the study's own result, not a further one"`
	Bytes    int64                `json:"bytes"`
	At       *string              `json:"at" doc:"of a further result; the study's own is dated by its place on the board"`
	Message  *string              `json:"message" doc:"id of the envelope on the board that signs the study's own result"`
	Complete bool                 `json:"complete" doc:"every member of the roster is in it"`
	Analyses []study.AnalysisKind `json:"analyses"`
	Signed   string               `json:"signed" doc:"the signed statement in base64, as the protocol has it"`
	Document string               `json:"document" doc:"path of the document"`
	Files    string               `json:"files" doc:"path of the list of files"`
}

type filesAnswer struct {
	Files []fileAnswer `json:"files"`
}

type fileAnswer struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Media   string   `json:"media"`
	Rows    int      `json:"rows"`
	Columns []string `json:"columns" doc:"of a table; of a matrix none: the file of names has them"`
}

type boardAnswer struct {
	Count    uint64          `json:"count" doc:"messages on the board"`
	Chain    string          `json:"chain" doc:"hash chain over all of them"`
	Messages []messageAnswer `json:"messages"`
	Next     *uint64         `json:"next" doc:"from, for the next page; null on the last one"`
}

type messageAnswer struct {
	Number  uint64        `json:"number"`
	ID      string        `json:"id"`
	Kind    protocol.Kind `json:"kind"`
	Attempt uint32        `json:"attempt" doc:"0: before or beside all attempts"`
	From    string        `json:"from"`
	Sender  string        `json:"sender" doc:"peer id"`
	Bytes   int           `json:"bytes" doc:"of what it says"`
	Noted   *string       `json:"noted" doc:"when this aggregator put it on the board, by its own clock; no sender signs it; null where no time was kept"`
}

// eventAnswer is one event of a study's stream.
type eventAnswer struct {
	Status   statusAnswer  `json:"status"`
	Parties  []partyAnswer `json:"parties"`
	Results  int           `json:"results"`
	Messages uint64        `json:"messages"`
}

func newSummary(s Study) summary {
	return summary{ID: s.File.ID.String(), Name: s.File.Name, Added: s.Added.String(), Partition: s.File.Partition,
		Status: newStatus(s.Status), Parties: len(s.Parties), Released: s.Released(), Results: len(s.Results)}
}

func newStatus(s Status) statusAnswer {
	out := statusAnswer{State: s.State, Ended: !s.Active(), Wait: some(string(s.Waits())), WaitsFor: some(s.Waits().String()), From: list(s.From), Until: some(s.Until),
		Failure: some(s.Failure), Reason: some(s.Reason), Cause: some(string(s.Cause)), Trouble: some(s.Trouble), Grace: some(s.Grace), Faults: list(s.Faults), Culprits: []culprit{}, Doing: s.Doing}
	for _, c := range s.Culprits {
		out.Culprits = append(out.Culprits, culprit{c.Name, c.ID, c.Standing, c.What})
	}
	return out
}

func newStudy(s Study) studyAnswer {
	f := s.File
	out := studyAnswer{ID: f.ID.String(), Name: f.Name, Meaning: f.Meaning.String(), Added: s.Added.String(), Partition: f.Partition,
		Quorum: f.Quorum, Expires: f.Expires.String(), Deadline: f.Deadline.String(), LateUntil: date(f.LateUntil),
		Status: newStatus(s.Status), Parties: newParties(s), Privacy: newPrivacy(f), Later: []string{}, Results: newStatements(s), Lost: list(s.Lost),
		Messages: s.Messages, BoardChain: s.Chain.String(), Purged: s.Purged}
	for _, c := range f.Columns {
		out.Columns = append(out.Columns, columnAnswer{Name: c.Name, Kind: c.Kind, Owner: some(c.Owner)})
	}
	for _, sk := range f.Sketches {
		out.Sketches = append(out.Sketches, sketchAnswer{Side: string(sk.Side), Method: sk.Method()})
	}
	for _, a := range f.Analyses {
		options := ""
		if a.Options != nil {
			options = a.Options.String()
		}
		out.Analyses = append(out.Analyses, analysisAnswer{Kind: a.Kind, Options: options})
	}
	for _, kind := range f.Later {
		out.Later = append(out.Later, string(kind))
	}
	return out
}

func newParties(s Study) []partyAnswer {
	out := []partyAnswer{}
	for _, p := range s.Parties {
		one := partyAnswer{Name: p.Name, ID: p.ID.String(), Steps: list(p.Steps), Received: p.Received}
		if p.Release != nil {
			one.Release, one.Bytes = some(p.Release.ID.String()), p.Release.Bytes
		}
		out = append(out, one)
	}
	return out
}

func newPrivacy(f *study.Study) privacyAnswer {
	out := privacyAnswer{Unit: "none", Mechanism: string(f.Privacy.Mechanism), Replaced: f.Privacy.Replaced}
	if f.Privacy.Mechanism != dp.None {
		epsilon, delta := float64(f.Privacy.Epsilon), float64(f.Privacy.Delta)
		out.Unit, out.Epsilon, out.Delta = string(f.Privacy.Unit), &epsilon, &delta
	}
	if b, err := f.PerPerson(); err == nil && !math.IsInf(float64(b.Epsilon), 0) {
		epsilon, delta := float64(b.Epsilon), float64(b.Delta)
		out.EpsilonPerPerson, out.DeltaPerPerson = &epsilon, &delta
	}
	return out
}

func newStatements(s Study) []statement {
	out := []statement{}
	for _, r := range s.Results {
		path := strings.NewReplacer("{study}", s.File.ID.String(), "{document}", r.Document.Hash.String()).Replace(resultPath)
		one := statement{Name: r.Document.Hash.String(), Current: !r.Further, Bytes: r.Document.Size, At: date(r.At), Complete: r.Complete,
			Analyses: list(r.Kinds), Signed: base64.StdEncoding.EncodeToString(r.Signed), Document: path, Files: path + "/files"}
		if r.Message != (protocol.Digest{}) {
			one.Message = some(r.Message.String())
		}
		out = append(out, one)
	}
	return out
}

func newReleases(s Study) releasesAnswer {
	out := releasesAnswer{Releases: []releaseAnswer{}}
	for _, p := range s.Parties {
		if p.Release == nil {
			continue
		}
		one := releaseAnswer{ID: p.Release.ID.String(), Party: p.Name, Records: p.Release.Records, Bytes: p.Release.Bytes, Received: p.Received}
		for _, sk := range p.Release.Sketches {
			released := releasedSketch{Side: string(sk.Side), Rows: sk.Rows, Cols: sk.Cols, Width: sk.Width, Bytes: sk.Size(), RowColumns: []string{}}
			for _, c := range sk.RowColumns {
				released.RowColumns = append(released.RowColumns, c.Name)
			}
			for _, c := range sk.Chunks {
				released.Chunks = append(released.Chunks, c.String())
			}
			one.Sketches = append(one.Sketches, released)
		}
		out.Releases = append(out.Releases, one)
	}
	return out
}

func newMessage(m Message) messageAnswer {
	return messageAnswer{Number: m.Number, ID: m.ID.String(), Kind: m.Kind, Attempt: m.Attempt, From: m.From, Sender: m.Sender.String(), Bytes: m.Bytes, Noted: date(m.Noted)}
}

// some returns a pointer to the text, or nil if it is empty.
func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func date(t protocol.Instant) *string {
	if t == 0 {
		return nil
	}
	return some(t.String())
}

// list returns an empty slice for nil, so that JSON never has null.
func list[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}
