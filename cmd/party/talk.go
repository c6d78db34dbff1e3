package main

import (
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// talk reports a study's progress to a person: a line for each event, and on a terminal a bar for
// what takes longer than two seconds.
type talk struct {
	c       *console.Console
	study   *study.Study
	self    int // this party's index in the study
	bars    *mpb.Progress
	bar     *mpb.Bar
	doing   event.Milestone
	since   time.Time
	waiting session.Status // the last reported wait
	faults  int            // number of reported ends of attempts
	retried string         // the last reported failure
}

func newTalk(c *console.Console, s *study.Study, self int) *talk {
	return &talk{c: c, study: s, self: self}
}

const barAfter = 2 * time.Second

func (t *talk) observe(p event.Progress) {
	if p.Milestone == event.Reading || p.Milestone == event.Uploading {
		t.progress(p)
		return
	}
	t.end()
	switch p.Milestone {
	case event.Checked:
		t.say("the data fit the study: " + p.Note)
	case event.Waiting:
		t.waits(p.Status)
	case event.Parts:
		id := t.study.ID.Short()
		t.say("waits for parts of the data, which are elsewhere (" + p.Note + "): party advanced sketch " + id + " --job FILE, then party advanced part there, party advanced sketch " + id + " --parts PATTERN and party advanced release " + id)
	case event.Held:
		t.say("the sketch is held: " + p.Note)
		t.say("waits for party advanced release " + t.study.ID.Short() + "; until then party advanced sketch " + t.study.ID.Short() + " adds and withdraws records")
	case event.Projected:
		t.say("sketched: " + p.Note)
	case event.Debited:
		t.say("the ledger is debited")
	case event.Stored:
		t.say(storedText(t.study.Privacy.Mechanism, p.Kind))
	case event.Uploaded:
		t.say("the release has arrived")
	case event.Clocks:
		t.say(p.Note)
	case event.Retrying:
		if text := p.Err.Error(); text != t.retried {
			t.retried = text
			t.say("trying again: " + text)
		}
	}
}

// storedText says that a release, or a first round, is stored, and what was done to the sketch.
func storedText(mechanism dp.Mechanism, kind protocol.Kind) string {
	what := "the release"
	if kind == protocol.KindFirst {
		what = "the first round"
	}
	switch mechanism {
	case dp.None:
		return what + " is stored without noise, as the study says"
	case dp.RandomisedResponse:
		return "bits are flipped at random and " + what + " is stored"
	}
	return "noise is drawn and " + what + " is stored"
}

// waits reports once what the study waits for from others. It does not report that one of several
// has come.
func (t *talk) waits(s session.Status) {
	for _, fault := range s.Faults[min(t.faults, len(s.Faults)):] {
		t.say(fault)
	}
	t.faults = len(s.Faults)
	if s.WaitFor == "" || s.State == t.waiting.State && s.WaitFor == t.waiting.WaitFor {
		return
	}
	t.waiting = s
	shot := stored.SnapshotOf(t.study, s)
	self := t.study.Parties[t.self].Name
	shot.From = slices.DeleteFunc(shot.From, func(name string) bool { return name == self || name == stored.TheAggregator })
	if len(shot.From) == 0 && len(s.From) > 0 {
		return // from this party alone, which reports its own actions
	}
	t.say(shot.State + ", " + shot.Waiting(console.Now()))
}

func (t *talk) say(line string) { t.c.Say("%s: %s", t.study.Name, strings.TrimSpace(line)) }

// progress draws a bar for an activity that has lasted long enough.
func (t *talk) progress(p event.Progress) {
	if !t.c.Terminal() {
		return
	}
	if t.doing != p.Milestone {
		t.end()
		t.doing, t.since = p.Milestone, time.Now()
	}
	if t.bar == nil && time.Since(t.since) > barAfter {
		t.bars = mpb.New(mpb.WithOutput(t.c.Err), mpb.WithWidth(40))
		t.bar = t.bars.AddBar(p.Total,
			mpb.PrependDecorators(decor.Name(string(p.Milestone)+" ")),
			mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f")))
	}
	if t.bar != nil {
		t.bar.SetCurrent(p.Done)
	}
}

// end ends a bar in progress.
func (t *talk) end() {
	if t.bar != nil {
		t.bar.Abort(false)
		t.bars.Wait()
	}
	t.bars, t.bar, t.doing = nil, nil, ""
}
