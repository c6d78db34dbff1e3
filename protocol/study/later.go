package study

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
)

// NotLaterError refuses a kind of analysis that a study's parties did not approve. The study file
// lists under later which kinds may be asked of its releases afterwards.
type NotLaterError struct {
	Name  string // of the study
	Kind  AnalysisKind
	Later []AnalysisKind
}

func (e *NotLaterError) Error() string {
	if len(e.Later) == 0 {
		return fmt.Sprintf("study %q admits no analysis beside its own: its parties approved an empty list under later", e.Name)
	}
	var names []string
	for _, k := range e.Later {
		names = append(names, string(k))
	}
	return fmt.Sprintf("%s is not among what study %q admits beside its own analyses; its parties approved, under later: %s", e.Kind, e.Name, strings.Join(names, ", "))
}

// Fail returns the catalogue entry of the refusal.
func (e *NotLaterError) Fail() *fail.Error { return fail.NotLater.Fail() }
