package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// Dataset is the party's dataset for the study.
type Dataset struct {
	Site   config.StudySite
	Data   config.Dataset
	Schema dataset.Schema
	Plans  []release.Plan // one for each sketch
	Picks  [][]int        // for each sketch, the indexes of its values in a row of the schema
	People people.Sample  // sample of the people in the last pass; empty before
	Round  int            // number of earlier releases of the study, in void attempts
}

// Open finds the party's data for the study, and what the study uses of them.
func (r *Source) Open() (*Dataset, error) {
	file, err := r.Site()
	if err != nil {
		return nil, &node.SiteError{Err: err}
	}
	site, err := file.Study(r.Study.ID)
	if err != nil {
		return nil, &node.SiteError{Err: err}
	}
	data := file.Datasets[site.Dataset]
	if why := NotHeld(r.Study, data.Source.Elsewhere != ""); site.Release == config.ReleaseAsk && why != "" {
		return nil, &node.SiteError{Err: fmt.Errorf("study %s has release: ask, which does not go with %s (take release: auto)", r.Study.ID.Short(), why)}
	}
	if data.Source.Elsewhere != "" && site.Release != config.ReleaseAsk {
		return nil, &node.SiteError{Err: fmt.Errorf("study %s has a dataset that is elsewhere, %q, and not release: ask: its sketch is held until its parts are there and the steward releases it (write release: ask under the study)", r.Study.ID.Short(), data.Name)}
	}
	party, _ := r.Study.PartyIndex(r.Signer.ID())
	return Entry(r.Study, party, site, data)
}

// Entry combines what a study asks of a party's dataset with the two site file entries.
func Entry(s *study.Study, party int, site config.StudySite, data config.Dataset) (*Dataset, error) {
	src := &Dataset{Site: site, Data: data}
	limit := int64(math.MaxInt64)
	for i := range s.Sketches {
		plan, err := release.For(s, party, i)
		if err != nil {
			return nil, err
		}
		src.Plans = append(src.Plans, plan)
		limit = min(limit, plan.Limit)
	}
	var err error
	if src.Schema, err = schemaOf(s, party, site, src.Data, limit); err != nil {
		return nil, err
	}
	for _, plan := range src.Plans {
		src.Picks = append(src.Picks, picks(s, party, plan))
	}
	return src, nil
}

// schemaOf is the schema that the study asks of the party's file.
func schemaOf(s *study.Study, party int, site config.StudySite, data config.Dataset, limit int64) (dataset.Schema, error) {
	own, required := s.OwnColumns(party), labelled(s, party)
	wanted := make([]string, len(own))
	for i, c := range own {
		wanted[i] = s.Columns[c].Name
	}
	headers, err := site.Headers(wanted)
	if err != nil {
		return dataset.Schema{}, &node.SiteError{Err: err}
	}
	out := dataset.Schema{
		ID: data.ID, Normalize: s.Records.Normalize, Duplicates: s.Records.Duplicates,
		Missing: s.Records.Missing, Bits: s.ReadBits(), MaxRecords: limit, Apart: s.Privacy.Unit == dp.Attribute,
	}
	if len(out.ID) == 0 {
		out.ID = s.Records.ID
	}
	if len(out.ID) != len(s.Records.ID) {
		return dataset.Schema{}, &node.SiteError{Err: fmt.Errorf("dataset %q identifies records by %d columns, the study by %d", data.Name, len(out.ID), len(s.Records.ID))}
	}
	for i, c := range own {
		column := s.Columns[c]
		if s.Unlimited() {
			column.Scale = column.Scale.Unlimited()
		}
		out.Fields = append(out.Fields, dataset.Field{Name: column.Name, Header: headers[i], Kind: column.Kind, Scale: column.Scale, Values: column.Values, Required: required[c]})
	}
	if err := out.Check(); err != nil { // the study's part was checked when it was parsed
		return dataset.Schema{}, &node.SiteError{Err: err}
	}
	return out, nil
}

// labelled are the columns in which a missing value has no substitute: labels that are released,
// and those whose classes moments count, unless missing values are counted as a class.
func labelled(s *study.Study, party int) map[int]bool {
	out := map[int]bool{}
	for i, sk := range s.Sketches {
		if c, ok := s.LabelOf(party, i); ok {
			out[c] = true
		}
		if sk.Side != sketch.Moments || s.Records.Missing != study.MissingCentre || s.MomentLayout(i).Classes == 0 {
			continue
		}
		for _, c := range s.OwnColumns(party) {
			out[c] = out[c] || s.Columns[c].Label
		}
	}
	return out
}

// picks maps the inputs of a sketch to the entries of a row of the dataset, which holds all own
// columns in order.
func picks(s *study.Study, party int, plan release.Plan) []int {
	at := map[study.Feature]int{}
	for _, c := range s.OwnColumns(party) {
		if s.Columns[c].Kind != study.Categorical {
			at[study.Feature{Column: c, Kind: study.Value}] = len(at)
			continue
		}
		for _, v := range s.Columns[c].Values {
			at[study.Feature{Column: c, Value: v, Kind: study.OneHot}] = len(at)
		}
	}
	var out []int
	for _, f := range plan.Inputs() {
		out = append(out, at[f])
	}
	return out
}

// Pass reads the data once and passes each batch to take.
func (r *Source) Pass(ctx context.Context, src *Dataset, take func(dataset.Batch) error) (dataset.Summary, error) {
	key, err := r.Store.PeopleKey()
	if err != nil {
		return dataset.Summary{}, err
	}
	sampler := people.NewSampler(key, src.Data.Source)
	sampled := func(b dataset.Batch) error {
		for _, id := range b.IDs {
			sampler.Add(id)
		}
		return take(b)
	}
	summary, err := dataset.Each(ctx, src.Data.Source, src.Schema, dataset.Options{SpillDir: r.Store.Dir()}, sampled, func(s dataset.Summary) {
		r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Reading, Done: s.Bytes, Total: s.Size})
	})
	if err != nil {
		return dataset.Summary{}, r.otherwiseNamed(src, err)
	}
	src.People = sampler.Sample()
	return summary, nil
}

// otherwiseNamed adds to an error about a missing column how to give the name that the data have
// for it.
func (r *Source) otherwiseNamed(src *Dataset, err error) error {
	var absent *dataset.AbsentError
	if !errors.As(err, &absent) {
		return err
	}
	party, _ := r.Study.PartyIndex(r.Signer.ID())
	for _, i := range r.Study.OwnColumns(party) {
		name := r.Study.Columns[i].Name
		if slices.Contains(absent.Columns, cmp.Or(src.Site.Columns[name], name)) {
			return fmt.Errorf("%w; where it has another name there: party data use %s %s --column %s=NAME", err, src.Data.Name, r.Study.ID.Short(), name)
		}
	}
	return err
}

// Check reads the data once before the party's first message is sent, so that a bad line is found
// before others wait for this party.
func (r *Source) Check(ctx context.Context) error {
	src, err := r.Open()
	if err != nil {
		return err
	}
	if src.Data.Source.Elsewhere != "" {
		return r.checkUnread(src)
	}
	summary, refusal, err := r.examine(ctx, src, func(dataset.Batch) error { return nil })
	if err != nil {
		return err
	}
	if refusal != nil {
		return refusal
	}
	if err := r.Remember(src); err != nil {
		return err
	}
	r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Checked, Note: SummaryText(summary)})
	return nil
}

// checkUnread checks what can be checked of data that are elsewhere, before they are read. The
// number of records is known only when their parts are summed; what depends on it is checked then.
func (r *Source) checkUnread(src *Dataset) error {
	entries, err := r.Store.Ledger()
	if err != nil {
		return err
	}
	refusal, err := r.CheckPeople(src, entries)
	if err == nil && refusal == nil {
		_, refusal = r.Debits(src, entries)
	}
	if err := errors.Join(refusal, err); err != nil {
		return err
	}
	r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Checked, Note: "they are elsewhere, and are read by party advanced part"})
	return nil
}

// examine reads the data once and passes each batch to take. refusal is the reason why policy or
// budget would not allow a release of readable data.
func (r *Source) examine(ctx context.Context, src *Dataset, take func(dataset.Batch) error) (summary dataset.Summary, refusal, err error) {
	summary, err = r.Pass(ctx, src, take)
	if err != nil {
		return dataset.Summary{}, nil, err
	}
	entries, err := r.Store.Ledger()
	if err != nil { // an unreadable ledger is an error, not a refusal
		return summary, nil, err
	}
	refusal, err = r.Permitted(src, summary.Records, entries)
	return summary, refusal, err
}

// Options are the inputs of a command that needs no other node: a study, and this party's data for
// it.
type Options struct {
	node.Env[event.Progress] // its observer receives Reading

	Store node.PartyState              // required; may be read-only if nothing is changed
	Site  func() (config.Party, error) // required: reads the site file
	Study *study.Study                 // required; it lists this party
}

// Source returns the study at this party, which need not be served.
func (o Options) Source() (*Source, error) {
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return nil, err
	}
	return &Source{o.Env.OrDefaults(), o.Store, o.Site, signer, o.Study}, nil
}

// CheckedData is the result of checking data against a study; only the party may see it.
type CheckedData struct {
	dataset.Summary
	Effect Effect
}

// CheckData reads a party's data against a study as Run does before its first message, without a
// network and whether or not the study is approved. It reports what the study would do to the data.
// refusal is the reason why policy or budget would not allow the release, or nil; err is about the
// data or the site file.
func CheckData(ctx context.Context, o Options) (out CheckedData, refusal, err error) {
	h, err := o.Source()
	if err == nil {
		out, refusal, err = h.checkData(ctx)
	}
	if err != nil {
		return CheckedData{}, nil, fmt.Errorf("checking data for study %s: %w", o.Study.ID.Short(), err)
	}
	return out, refusal, nil
}

func (r *Source) checkData(ctx context.Context) (out CheckedData, refusal, err error) {
	src, err := r.Open()
	if err != nil {
		return out, nil, err
	}
	if err := r.lookExactly(ctx, src); err != nil {
		return out, nil, err
	}
	survey, err := r.NewSurvey(src, true)
	if err != nil {
		return out, nil, err
	}
	if out.Summary, refusal, err = r.examine(ctx, src, survey.Add); err != nil {
		return out, nil, err
	}
	out.Effect = survey.Effect(out.Summary, nil)
	return out, refusal, nil
}

// mostNamed bounds the number of columns named in a line about data.
const mostNamed = 5

// SummaryText describes in one line what was read, in counts. It names only the first columns with
// something to report.
func SummaryText(s dataset.Summary) string {
	text := fmt.Sprintf("%d records", s.Records)
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d left out for a missing value", s.Skipped)
	}
	named, more := 0, 0
	for _, f := range s.Fields {
		if f.Clamped == 0 && f.Missing == 0 {
			continue
		}
		if named++; named > mostNamed {
			more++
			continue
		}
		if f.Clamped > 0 {
			text += fmt.Sprintf("; %q: %d values outside the public bounds were clipped to them", f.Name, f.Clamped)
		}
		if f.NoLogarithm > 0 {
			text += fmt.Sprintf(", %d of them because numbers of 0 and less have no logarithm", f.NoLogarithm)
		}
		if f.Missing > 0 {
			text += fmt.Sprintf("; %q: %d missing", f.Name, f.Missing)
		}
	}
	if more > 0 {
		text += fmt.Sprintf("; and %d more columns with such values, which party data check lists", more)
	}
	return text
}
