package show

import (
	"slices"

	"github.com/cosketch/cosketch/protocol/study"
)

// kind says how the answers of one kind of analysis are shown, beside their pairs.
type kind struct {
	name  study.AnalysisKind
	title string           // of its section, in lower case; empty: the words of the name
	sizes bool             // its numbers are sizes, for which differing from 0 is no finding
	own   func(s *section) // shows the kind's own section of the document; nil: it has none
}

// kindOf returns the row of a kind; the zero kind if there is none.
func kindOf(name study.AnalysisKind) kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i]
	}
	return kind{}
}

// show shows a section of the document, if present.
func show[T any](section *T, as func(T)) {
	if section != nil {
		as(*section)
	}
}
