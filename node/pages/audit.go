package pages

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/cosketch/cosketch/node/api"
)

// perTrail is how many messages one page of the audit trail has.
const perTrail = 200

type auditView struct {
	page
	Count, First, Last uint64
	Chain              string
	Messages           []messageRow
	Before, After      string
}

type messageRow struct {
	Number         uint64
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
	v := auditView{page: p.ofStudy(r, s, "Audit trail"), Count: s.Messages, Chain: s.Chain.String(), First: from, Last: from}
	for _, m := range messages {
		v.Last = m.Number
		v.Messages = append(v.Messages, messageRow{m.Number, m.From, m.Kind.String(), m.ID.String()[:16], says(m.Kind), m.Attempt, m.Bytes})
	}
	v.Headline = fmt.Sprintf("%d signed messages are on the board, in this order.", s.Messages)
	if s.Messages == 0 {
		v.Headline = "Nobody has posted anything yet."
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
