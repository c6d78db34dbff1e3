package wait_test

import (
	"slices"
	"testing"

	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wait"
)

// Every wait of the tables has a text of its own, and a text about the party that owes it.
func TestWaitsAreWorded(t *testing.T) {
	texts := map[string]wait.Code{}
	for _, row := range slices.Concat(session.PartyTransitions(), session.AggregatorTransitions()) {
		for _, w := range row.Waits {
			if !slices.Contains(wait.All(), w) {
				t.Errorf("%s has no text", string(w))
			}
		}
	}
	for _, w := range wait.All() {
		if other, twice := texts[w.String()]; twice || w.String() == "" {
			t.Errorf("%s and %s say %q", string(w), string(other), w)
		}
		texts[w.String()] = w
	}
	if got := wait.Shares.Owed() + "; " + wait.Result.Owed(); got != "owes its share message; owes the result" {
		t.Error(got)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "releases"},
		{[]string{"a"}, "releases from a"},
		{[]string{"a", "b"}, "releases from a and b"},
		{[]string{"a", "b", "c"}, "releases from a, b and c"},
		{[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}, "releases from 1, 2, 3, 4, 5, 6, 7 and 3 more"},
	} {
		if got := wait.Releases.From(c.names); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := wait.Code("of a later version").From([]string{"a"}); got != "of a later version from a" {
		t.Error(got)
	}
}
