package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/protocol"
)

// perTrail is the number of messages on one page of the audit trail.
const perTrail = 200

type auditView struct {
	page
	Count, First, Last uint64
	Chain              string
	Days               []auditDay
	Before, After      string
}

// auditDay has consecutive messages that this aggregator noted on one day.
type auditDay struct {
	Name     string // empty: no times were kept
	Messages []messageRow
}

type messageRow struct {
	Number         uint64
	At, Machine    string // the time, and the whole instant for programs
	From, Kind, ID string
	Says           string
	Attempt        uint32
	Bytes          int
}

func (p *pages) audit(w http.ResponseWriter, r *http.Request) error {
	s, err := p.server.Lookup(r)
	if err != nil {
		return err
	}
	from := uint64(0)
	if text := r.URL.Query().Get("from"); text != "" {
		if from, err = strconv.ParseUint(text, 10, 32); err != nil || from >= s.Messages {
			return api.ErrNotFound
		}
	}
	messages, err := p.server.Views.Messages(s.File.ID, from, perTrail)
	if err != nil {
		return err
	}
	v := auditView{page: p.ofStudy(r, s, "Audit trail"), Count: s.Messages, Chain: s.Chain.String(), First: from, Last: from, Days: days(messages)}
	if n := len(messages); n > 0 {
		v.Last = messages[n-1].Number
	}
	v.Headline = fmt.Sprintf("%d signed messages are on the board, in this order.", s.Messages)
	switch s.Messages {
	case 0:
		v.Headline = "Nobody has posted anything yet."
	case 1:
		v.Headline = "One signed message is on the board."
	}
	path := studyPath(s) + "/audit"
	if from > 0 {
		v.Before = fmt.Sprintf("%s?from=%d", path, max(from, perTrail)-perTrail)
	}
	if next := from + uint64(len(messages)); next < s.Messages {
		v.After = fmt.Sprintf("%s?from=%d", path, next)
	}
	return p.show(w, r, "audit", v)
}

// days groups messages by the day on which they were noted.
func days(messages []api.Message) (out []auditDay) {
	for _, m := range messages {
		row := messageRow{Number: m.Number, From: m.From, Kind: m.Kind.String(), ID: m.ID.String()[:16], Says: says(m.Kind), Attempt: m.Attempt, Bytes: m.Bytes}
		day := ""
		if m.Noted != 0 {
			day, row.At, row.Machine = dated(m.Noted)
		}
		if n := len(out); n == 0 || out[n-1].Name != day {
			out = append(out, auditDay{Name: day})
		}
		out[len(out)-1].Messages = append(out[len(out)-1].Messages, row)
	}
	return out
}

// dated splits an instant into its day and time, and formats it for programs.
func dated(t protocol.Instant) (day, at, machine string) {
	u := time.Unix(int64(t), 0).UTC()
	return u.Format("2 January 2006"), u.Format("15:04:05"), t.String()
}
