package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// operator drafts, hosts and cancels studies, for commands and for programs over HTTP.
type operator struct {
	store  *store.Store
	quotas aggregator.Quotas
}

var _ api.Operator = operator{}

// hostable refuses a study that this node cannot host: of another aggregator, or beyond its limits.
func (d operator) hostable(s *study.Study) error {
	id, err := d.store.ID()
	if err != nil {
		return err
	}
	if s.Aggregator.ID != id {
		return fail.OtherAggregator.New(s.Name, s.Aggregator.ID, id)
	}
	if err := analysis.Deliverable(s); err != nil {
		return fail.Usage.Of(fmt.Errorf("study %s: %w", s.Name, err))
	}
	if err := d.quotas.Check(s); err != nil {
		return fail.Usage.Of(fmt.Errorf("study %s: %w", s.Name, err))
	}
	return nil
}

// judge checks that a study can be hosted here, and forecasts what its answers are worth.
func (d operator) judge(s *study.Study, records string) (console.Verdict, error) {
	if err := d.hostable(s); err != nil {
		return console.Verdict{}, err
	}
	p, err := console.PlanFlags{Records: records}.Make(s, study.Everyone)
	if err != nil {
		return console.Verdict{}, err
	}
	return console.NewVerdict(p), nil
}

// add stores a judged study; a running serve takes it up.
func (d operator) add(s *study.Study) error {
	return console.AddStudy(d.store, s, s.Expires, console.Now())
}

// Draft drafts like aggregator study draft, but asks no questions.
func (d operator) Draft(r api.DraftRequest) (api.Draft, error) {
	cmd := studyDraft{Name: r.Name, Partition: &r.Partition, Ask: r.Ask, Column: r.Columns, Records: r.Records, Rounds: map[int]string{0: "auto", 1: "1", 2: "2"}[r.Rounds], Masked: r.Masked, Epsilon: r.Epsilon, Addr: r.Addrs, Approval: orDays(r.Approval), Upload: orDays(r.Upload)}
	switch {
	case r.Name == "" || len(r.Lists) == 0 || len(r.Ask) == 0:
		return api.Draft{}, fail.Usage.Of(errors.New("drafting: want name, lists and ask"))
	case r.Partition != string(study.Vertical) && r.Partition != string(study.Horizontal):
		return api.Draft{}, fail.Usage.Of(fmt.Errorf("drafting: partition %.40q: want vertical or horizontal", r.Partition))
	case cmd.Rounds == "":
		return api.Draft{}, fail.Usage.Of(fmt.Errorf("drafting: rounds %d: want 1 or 2", r.Rounds))
	case cmd.Approval < 1 || cmd.Upload < 1 || cmd.Approval > mostDays || cmd.Upload > mostDays:
		return api.Draft{}, fail.Usage.Of(fmt.Errorf("drafting: approval and upload take 1 to %d days each", mostDays))
	}
	var lists []config.ColumnList
	for i, text := range r.Lists {
		l, err := config.ParseColumns(fmt.Sprintf("%d of the request", i+1), []byte(text))
		if err != nil {
			return api.Draft{}, fail.Usage.Of(err)
		}
		lists = append(lists, l)
	}
	draft, notes, err := cmd.draft(d.store, lists)
	if err != nil {
		return api.Draft{}, err
	}
	text, made, err := cmd.drafted(draft)
	if err != nil {
		return api.Draft{}, err
	}
	out := api.Draft{File: text, Parties: []api.DraftParty{}, Open: made.Open, Decided: append(append([]string{}, notes...), made.Decided...)}
	for _, p := range made.Parties {
		out.Parties = append(out.Parties, api.DraftParty(p))
	}
	return out, nil
}

// mostDays bounds the days until dates of drafts.
const mostDays = 3650

// orDays returns a number of days, or for 0 the default of aggregator study draft.
func orDays(n int) int {
	if n == 0 {
		return 14
	}
	return n
}

// inRequest stands in errors for the name of a study file sent over HTTP.
const inRequest = "in the request"

// Check checks a study like Host, and stores nothing.
func (d operator) Check(source []byte) (api.Hosted, error) {
	_, out, err := d.read(source)
	return out, err
}

// Host acts like aggregator study host. It accepts a study that is here already, whatever its
// dates.
func (d operator) Host(source []byte) (api.Hosted, error) {
	s, out, err := d.read(source)
	if err == nil && !out.Before {
		err = d.add(s)
	}
	return out, err
}

func (d operator) read(source []byte) (*study.Study, api.Hosted, error) {
	s, err := console.ParseStudy(inRequest, source)
	if err != nil {
		return nil, api.Hosted{}, err
	}
	verdict, err := d.judge(s, "")
	if err != nil {
		return nil, api.Hosted{}, err
	}
	out := api.Hosted{Study: s.ID.String(), Name: s.Name, Useless: verdict.Useless, Forecast: []api.ForecastItem{}}
	for _, a := range verdict.Analyses {
		out.Forecast = append(out.Forecast, api.ForecastItem{Analysis: a.Name, Usable: a.Usable, Verdict: a.Verdict})
	}
	_, err = d.store.Study(s.ID)
	if out.Before = err == nil; errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return s, out, err
}

// cancelWithin is how long the serving node may take to end a study. It is less than the timeout of
// an answer.
const cancelWithin = time.Minute

// Cancel acts like aggregator study cancel.
func (d operator) Cancel(ctx context.Context, id protocol.StudyID, reason string) (api.Cancelled, error) {
	if err := checkReason(reason); err != nil {
		return api.Cancelled{}, fail.Usage.Of(fmt.Errorf("cancelling study %s: reason: %w", id.Short(), err))
	}
	ctx, cancel := context.WithTimeout(ctx, cancelWithin)
	defer cancel()
	got, err := aggregator.Cancel(ctx, options(d.store), d.store, id, reason)
	if err != nil {
		return api.Cancelled{}, err
	}
	return api.Cancelled{Study: id.String(), Name: got.Name, At: got.Stop.At.String(), Reason: got.Stop.Reason, Before: got.Before}, nil
}
