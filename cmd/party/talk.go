package main

import (
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/console"
)

// talk tells a person how a study goes: a line where something happened, and on
// a terminal a bar for what takes longer than two seconds.
type talk struct {
	c       *console.Console
	name    string
	bars    *mpb.Progress
	bar     *mpb.Bar
	doing   node.Milestone
	since   time.Time
	retried string
}

func newTalk(c *console.Console, name string) *talk { return &talk{c: c, name: name} }

const barAfter = 2 * time.Second

func (t *talk) observe(p node.Progress) {
	if p.Milestone == node.Reading || p.Milestone == node.Uploading {
		t.progress(p)
		return
	}
	t.end()
	switch p.Milestone {
	case node.Checked:
		t.say("the data fit the study: " + p.Note)
	case node.Waiting:
		if p.Status.WaitFor != "" {
			line := string(p.Status.State) + ": waits for " + p.Status.WaitFor
			if p.Status.Until != 0 {
				line += ", until " + p.Status.Until.String()
			}
			t.say(line)
		}
	case node.Projected:
		t.say("sketched: " + p.Note)
	case node.Debited:
		t.say("the ledger is debited")
	case node.Stored:
		t.say("noise is drawn and the release is stored")
	case node.Uploaded:
		t.say("the release has arrived")
	case node.Retrying:
		if text := p.Err.Error(); text != t.retried {
			t.retried = text
			t.say("trying again: " + text)
		}
	}
}

func (t *talk) say(line string) { t.c.Say("%s: %s", t.name, strings.TrimSpace(line)) }

// progress draws a bar once an activity has lasted long enough to deserve one.
func (t *talk) progress(p node.Progress) {
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

// end closes a bar that is being drawn.
func (t *talk) end() {
	if t.bar != nil {
		t.bar.Abort(false)
		t.bars.Wait()
	}
	t.bars, t.bar, t.doing = nil, nil, ""
}
