package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// headline answers what most readers want to know first. answered is the first statement of a
// result, in whole sentences, or empty; waits is what the study waits for.
func headline(s api.Study, answered, waits string) string {
	next := waits
	if s.Status.Doing != nil {
		next = doing(*s.Status.Doing) + " is being computed"
	}
	if answered != "" {
		if next != "" {
			answered += " Now: " + next + "."
		}
		return answered
	}
	text := fmt.Sprintf("%d of %d parties in", s.Released(), len(s.Parties))
	if s.Status.State == string(session.Stopped) {
		text = "The study stopped without a result; " + text
	}
	if next != "" {
		text += "; " + next
	}
	return text + "."
}

func doing(d api.Doing) string { return fmt.Sprintf("%s (%d of %d)", d.Kind, d.Analysis, d.Of) }

// kinds lists the kinds of analyses, each once.
func kinds(all []study.AnalysisKind) string {
	var out []string
	for _, k := range all {
		if !slices.Contains(out, string(k)) {
			out = append(out, string(k))
		}
	}
	return strings.Join(out, ", ")
}

// stateClass is the CSS class of a state, which is also given in words.
func stateClass(s api.Status) string {
	switch {
	case s.Trouble != "" || s.State == string(session.Stopped):
		return "failed"
	case !s.Active() || s.State == string(session.Answered):
		return "done"
	case s.State == stored.Added:
		return ""
	}
	return "runs"
}

// says explains the purpose of a kind of message.
func says(k protocol.Kind) string {
	switch k {
	case protocol.KindApprove:
		return "agrees to the study"
	case protocol.KindWithdraw:
		return "takes its approval back"
	case protocol.KindRoster:
		return "fixes who takes part in an attempt"
	case protocol.KindCommit:
		return "commits to its part of the seed"
	case protocol.KindShare:
		return "sends its part, sealed to each other member"
	case protocol.KindConfirm:
		return "proves that it holds the seed"
	case protocol.KindFirst:
		return "shows its noised first round"
	case protocol.KindInterim:
		return "says what the second round goes by"
	case protocol.KindRelease:
		return "describes its noised sketches, by their hashes"
	case protocol.KindResult:
		return "signs a result"
	case protocol.KindComplaint:
		return "shows whose message was wrong"
	case protocol.KindFault:
		return "ends an attempt, and says by whose fault"
	case protocol.KindAbandon:
		return "will never use an attempt"
	case protocol.KindCertificate:
		return "shows all confirmations of an attempt"
	case protocol.KindJoin:
		return "asks for the seed, late"
	case protocol.KindWelcome:
		return "seals the seed to who is late"
	case protocol.KindJoined:
		return "proves that it holds the seed, late"
	case protocol.KindStop:
		return "ends the study without a result"
	case protocol.KindClose:
		return "ends the study: no further result comes"
	}
	return ""
}
