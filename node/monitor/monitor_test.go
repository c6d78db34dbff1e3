package monitor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
)

// some are studies of a state directory.
type some struct {
	all []stored.Snapshot
	err error
}

func (s *some) Snapshots() ([]stored.Snapshot, error) { return s.all, s.err }
func (s *some) Free() (int64, error)                  { return 12345, s.err }

func written(t *testing.T, r *metrics.Registry) string {
	t.Helper()
	var out strings.Builder
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestAggregator(t *testing.T) {
	r, studies := &metrics.Registry{}, &some{all: []stored.Snapshot{
		{State: "open", Until: "2026-12-02T00:00:00Z"}, {State: "collecting", Until: "2026-12-01T00:00:00Z"},
		{State: "closed", Until: "2026-01-01T00:00:00Z"}, {State: "closed"}, {State: "added"}, {State: "strange"}}}
	a := NewAggregator(r, studies)
	has(t, written(t, r), `cosketch_releases_total{outcome="refused"} 0`, `cosketch_results_total{outcome="failed"} 0`, `cosketch_board_messages_total{kind="stop"} 0`)
	x, y := protocol.StudyID{1}, protocol.StudyID{2}
	for _, h := range []event.Event{
		{What: event.Posted, Study: x, Kind: protocol.KindCommit}, {What: event.Posted, Study: y, Kind: protocol.KindCommit}, {What: event.Called, Call: "post", Outcome: "refused"},
		{What: event.ChunkKept, Bytes: 7}, {What: event.ChunkKept, Bytes: 5}, {What: event.ReleaseTaken}, {What: event.ReleaseRefused},
		{What: event.Computed, Took: 2 * time.Second}, {What: event.Uncomputed}, {What: event.Moved}, {What: event.Analysing},
		{What: event.TakenDown, Study: x}, {What: event.TakenDown, Study: x}, {What: event.TakenDown, Study: y}, {What: event.TakenUp, Study: x},
	} {
		a.Observe(h)
	}
	text := written(t, r)
	has(t, text, `cosketch_board_messages_total{kind="commit"} 2`, `cosketch_calls_total{call="post",outcome="refused"} 1`, "cosketch_release_bytes_total 12",
		`cosketch_releases_total{outcome="taken"} 1`, `cosketch_releases_total{outcome="refused"} 1`, `cosketch_results_total{outcome="computed"} 1`, `cosketch_results_total{outcome="failed"} 1`,
		"cosketch_store_failures_total 3", "cosketch_studies_out_of_service 1", "cosketch_analysis_seconds_count 2", "cosketch_analysis_seconds_sum 2",
		`cosketch_studies{state="closed"} 2`, `cosketch_studies{state="stopped"} 0`, `cosketch_studies{state="added"} 1`, `cosketch_studies{state="other"} 1`,
		"cosketch_next_deadline_seconds 1.7960832e+09", "cosketch_free_bytes 12345")
	for _, id := range []string{x.String(), x.Short(), "strange"} {
		if strings.Contains(text, id) {
			t.Errorf("a label holds %s", id)
		}
	}
	studies.err = errors.New("no disk")
	if text := written(t, r); strings.Contains(text, "cosketch_studies{") || strings.Contains(text, "cosketch_free_bytes 1") {
		t.Errorf("what cannot be read is said:\n%s", text)
	}
	if Ready(studies) == nil {
		t.Error("ready without a store")
	}
}

func TestParty(t *testing.T) {
	r := &metrics.Registry{}
	p := NewParty(r, &some{all: []stored.Snapshot{{State: "done"}, {State: "approved here"}}})
	x, y := protocol.StudyID{1}, protocol.StudyID{2}
	for _, o := range []event.Progress{
		{Study: x, Milestone: event.Reading, Done: 10}, {Study: x, Milestone: event.Reading, Done: 30}, {Study: y, Milestone: event.Reading, Done: 5},
		{Study: x, Milestone: event.Reading, Done: 4}, // again from the beginning
		{Study: x, Milestone: event.Uploading, Done: 3}, {Study: x, Milestone: event.Uploading, Done: 9},
		{Milestone: event.Retrying}, {Milestone: event.Waiting}, {Milestone: event.Stored}, {Milestone: event.Stored},
	} {
		p.Observe(o)
	}
	has(t, written(t, r), "cosketch_read_bytes_total 39", "cosketch_sent_bytes_total 9", "cosketch_retries_total 1", `cosketch_milestones_total{milestone="stored"} 2`,
		`cosketch_studies{state="done"} 1`, `cosketch_studies{state="other"} 1`)
}
