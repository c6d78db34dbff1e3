package pages

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/show"
	"github.com/cosketch/cosketch/protocol/study"
)

// perPage is the number of studies on one page of the list.
const perPage = 50

type studiesView struct {
	page
	Rows  []studyRow
	Older string // path of the next page
}

type studyRow struct {
	Path, Name, Short, State, Class, Why, Results string
	In, Parties                                   int
	Answered                                      bool
}

func (p *pages) studies(w http.ResponseWriter, r *http.Request) error {
	all, err := p.server.Views.Studies()
	if err != nil {
		return err
	}
	slices.Reverse(all)
	total := len(all)
	if before := r.URL.Query().Get("before"); before != "" {
		at := slices.IndexFunc(all, func(l api.Listed) bool { return l.ID.String() == before })
		if at < 0 || at == len(all)-1 {
			return api.ErrNotFound
		}
		all = all[at+1:]
	}
	v := studiesView{page: page{Title: "Studies", Kicker: "Aggregator " + p.server.Aggregator.String(), Footer: footer, Poll: 10, SignedIn: api.SignedIn(r)}}
	if len(all) > perPage {
		all = all[:perPage]
		v.Older = "/?before=" + url.QueryEscape(all[perPage-1].ID.String())
	}
	running, soonest, who, news := 0, protocol.Instant(0), "", ""
	for _, l := range all {
		s, err := p.server.Views.Study(l.ID)
		if err != nil {
			return err
		}
		now := p.server.Now()
		if s.Status.Active() {
			running++
			if until := s.Status.Deadline(); until != 0 && (soonest == 0 || until < soonest) {
				soonest, who, news = until, "; next, "+s.File.Name+" "+s.Status.Waiting(now), "; next, "+s.File.Name+" "+s.Status.Awaiting()
			}
		}
		row := studyRow{Path: studyPath(s), Name: s.File.Name, Short: s.File.ID.Short(), State: s.Status.State, Class: stateClass(s.Status),
			Why: s.Status.Why(now), In: s.Released(), Parties: len(s.Parties), Results: "none yet"}
		if !s.Status.Active() {
			row.Results = "none"
		}
		if len(s.Results) > 0 {
			row.Results, row.Answered = kinds(s.Results[0].Kinds), true
		}
		v.Rows = append(v.Rows, row)
	}
	goOn := goingOn(running, len(all), total)
	v.Headline, v.News = goOn+who+".", goOn+news+"."
	return p.show(w, r, "studies", v)
}

// goingOn says how many of the studies on this page, which may not be all, are active.
func goingOn(running, here, all int) string {
	switch {
	case all == 0:
		return "There are no studies yet"
	case all == 1 && running == 0:
		return "One study, which has ended"
	case all == 1:
		return "One study, which goes on"
	case here < all:
		return fmt.Sprintf("%d of the %d studies on this page go on, of %d in all", running, here, all)
	}
	return fmt.Sprintf("%d of %d studies go on", running, all)
}

func studyPath(s api.Study) string { return "/studies/" + s.File.ID.String() }

// ofStudy is the frame of a page about a study.
func (p *pages) ofStudy(r *http.Request, s api.Study, here string) page {
	f := s.File
	how := "different columns about the same records"
	if f.Partition == study.Horizontal {
		how = "the same columns about different records"
	}
	out := page{Title: f.Name, Kicker: fmt.Sprintf("Study “%s” (%s), %s", f.Name, f.ID.Short(), how), Footer: footer, SignedIn: api.SignedIn(r)}
	if here == "" {
		out.Trail = []crumb{{Text: f.Name}}
	} else {
		out.Trail, out.Title = []crumb{{studyPath(s), f.Name}, {Text: here}}, here+" of "+f.Name
	}
	return out
}

type studyView struct {
	page
	Path, ID, Meaning, ResultsWhen string
	Says                           template.HTML // what blocks the study, and what to read first
	Purged                         bool
	Parties                        []partyRow
	Doing                          *doingView
	Results                        []resultRow
	Dates                          []dateRow
	Promise, Person                string
	Analyses                       []analysisRow
	Columns                        []study.Column
	Messages                       uint64
}

type partyRow struct {
	Name, Note      string
	Awaited         bool
	Steps           []stepRow
	Sending         bool
	Received, Bytes int64
}

type stepRow struct{ Name, Class, Word string }

type doingView struct {
	Text        string
	Done, Total int
}

type resultRow struct{ Path, Name, Kinds, Made, Size, Short string }

type dateRow struct{ Name, Machine, Text, In string }

type analysisRow struct{ Kind, Options string }

func (p *pages) study(w http.ResponseWriter, r *http.Request) error {
	s, err := p.server.Lookup(r)
	if err != nil {
		return err
	}
	now := p.server.Now()
	v := studyView{page: p.ofStudy(r, s, ""), Path: studyPath(s), ID: s.File.ID.String(), Meaning: s.File.Meaning.String(), Purged: s.Purged,
		Columns: s.File.Columns, Messages: s.Messages, ResultsWhen: "They are computed when every release is here, or at the deadline from those that are."}
	answered, err := p.answered(s)
	if err != nil {
		return err
	}
	v.Headline, v.News = headline(s, answered, s.Status.Waiting(now)), headline(s, answered, s.Status.Awaiting())
	if v.Says, err = present.Main(readFirst(s)); err != nil {
		return err
	}
	if s.Status.Active() {
		v.Events, v.Poll = "/api/v1"+v.Path+"/events", 60 // news at once; the time left is updated every minute
	} else {
		v.ResultsWhen = ""
	}
	for _, one := range s.Parties {
		v.Parties = append(v.Parties, newPartyRow(s, one, now))
	}
	if d := s.Status.Doing; d != nil {
		v.Doing = &doingView{doing(*d), (d.Analysis-1)*100 + 100*d.Done/max(d.Total, 1), d.Of * 100}
	}
	for i, result := range s.Results {
		v.Results = append(v.Results, newResultRow(v.Path, i, result, now))
	}
	v.Dates = dates(s, now)
	v.Promise, v.Person = promise(s.File)
	for _, a := range s.File.Analyses {
		row := analysisRow{Kind: string(a.Kind)}
		if a.Options != nil {
			row.Options = a.Options.String()
		}
		v.Analyses = append(v.Analyses, row)
	}
	return p.show(w, r, "study", v)
}

// answered is the first statement of a study's result, or empty.
func (p *pages) answered(s api.Study) (string, error) {
	if len(s.Results) == 0 || s.Results[0].Further {
		return "", nil
	}
	d, err := p.server.Views.Document(s.File.ID, s.Results[0].Document.Hash)
	if errors.Is(err, api.ErrNotFound) { // a late release may just have replaced it
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return show.Headline(d.Result), nil
}

// readFirst is what to read first about a study.
func readFirst(s api.Study) (out []block.Block) {
	for _, one := range s.Status.Says() {
		one.Text = "The study " + one.Text + "."
		out = append(out, one)
	}
	out = append(out, stored.Lost(s.Lost)...)
	if s.File.Privacy.Mechanism == dp.None {
		out = append(out, show.NoPromise())
	}
	return out
}

// newPartyRow returns a party's steps: those taken, and the one that is awaited.
func newPartyRow(of api.Study, p api.Party, now protocol.Instant) partyRow {
	s := of.Status
	out := partyRow{Name: p.Name, Awaited: s.Active() && slices.Contains(s.From, p.Name)}
	next := true
	for _, name := range stored.Steps() {
		step := stepRow{Name: string(name), Word: "not yet"}
		switch {
		case slices.Contains(p.Steps, step.Name):
			step.Class, step.Word = "taken", "done"
		case next && out.Awaited:
			step.Class, step.Word, next = "next", "awaited", false
		}
		out.Steps = append(out.Steps, step)
	}
	if p.Release != nil {
		out.Received, out.Bytes = p.Received, p.Release.Bytes
		out.Sending = !p.Whole() && !of.Purged && s.Active()
		out.Note = fmt.Sprintf("%d records, %s", p.Release.Records, block.Bytes(p.Release.Bytes))
		switch {
		case of.Purged && slices.Contains(p.Steps, string(stored.StepReleased)):
			out.Note += ", purged"
		case !p.Whole():
			out.Note = fmt.Sprintf("%s of %s are here", block.Bytes(p.Received), block.Bytes(p.Release.Bytes))
		}
	}
	if out.Awaited {
		out.Note = strings.TrimPrefix(out.Note+"; "+s.Owing(now), "; ")
	}
	return out
}

func newResultRow(path string, i int, result api.Statement, now protocol.Instant) resultRow {
	row := resultRow{Path: path + "/results/" + result.Document.Hash.String(), Name: "the study’s result", Kinds: kinds(result.Kinds), Made: "when all were in",
		Size: block.Bytes(result.Document.Size), Short: result.Document.Hash.String()[:16]}
	switch {
	case result.Further:
		row.Name, row.Made = fmt.Sprintf("further result %d", i), node.Moment(result.At, now)
	case !result.Complete:
		row.Made = "without some parties"
	}
	return row
}

// dates lists the dates of a study file, in order.
func dates(s api.Study, now protocol.Instant) []dateRow {
	var out []dateRow
	f := s.File
	add := func(name string, t protocol.Instant) {
		if t == 0 {
			return
		}
		row := dateRow{name, t.String(), node.Moment(t, now), node.Distance(t, now)}
		if !s.Status.Active() {
			row.In = ""
		}
		out = append(out, row)
	}
	add("approval closes", f.Expires)
	add("upload closes", f.Deadline)
	add("late parties until", f.LateUntil)
	add("new records until", f.NewRecords)
	return out
}

// promise describes the privacy promise in two sentences.
func promise(f *study.Study) (of, person string) {
	if f.Privacy.Mechanism == dp.None {
		return "Nothing: the sketches carry no noise.", ""
	}
	what := "one value of one record"
	if f.Privacy.Unit == dp.Record {
		what = "a whole record"
	}
	budget := dp.Budget{Epsilon: f.Privacy.Epsilon, Delta: f.Privacy.Delta}
	of = fmt.Sprintf("Each party’s releases in this study protect %s with %s (%s noise).", what, unbroken(budget), f.Privacy.Mechanism)
	if b, err := f.PerPerson(); err == nil {
		if text := bounded(b); text != "" {
			person = "About one person, all together: " + text + "."
		}
	}
	return of, person
}
