package show

import (
	"slices"

	"github.com/cosketch/cosketch/protocol/study"
)

// kind is how the answers of one kind of analysis are shown, beyond their pairs.
type kind struct {
	name  study.AnalysisKind
	title string           // of its section, in lower case; empty: the name's words
	sizes bool             // its numbers are sizes: that they are not 0 is nothing to be found
	own   func(s *section) // shows what its own section of the document holds; nil: it has none
}

// kindOf returns the row of a kind; that of one without is empty.
func kindOf(name study.AnalysisKind) kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i]
	}
	return kind{}
}

// show shows a section of the document, where it is there.
func show[T any](section *T, as func(T)) {
	if section != nil {
		as(*section)
	}
}
