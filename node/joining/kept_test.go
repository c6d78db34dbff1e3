package joining

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

// A second run replays what the first accepted, up to a line that no longer fits. Forgotten answers
// are asked for again.
func TestKept(t *testing.T) {
	ask := func(k *Kept, id ID, refuse string) (line string) {
		t.Helper()
		err := k.Ask(t.Context(), Question{ID: id, Proposed: "so"}, func(l string) error {
			if line = l; l == refuse {
				return errors.New("refused")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	saved := map[ID][]string{}
	var over []string
	run := func(lines map[ID][]string) *Kept {
		return &Kept{
			Asker: NewScript("answers", lines), Lines: saved,
			Save: func(l map[ID][]string) error { saved = maps.Clone(l); return nil },
			Tell: func(_ Question, line string, wrong error) {
				if wrong != nil {
					over = append(over, line)
				}
			},
		}
	}
	first := run(map[ID][]string{Name: {"registry"}, Columns: {"--centre a=1", Proposed}})
	if got := []string{ask(first, Name, "-"), ask(first, Columns, "-"), ask(first, Columns, "-")}; !slices.Equal(got, []string{"registry", "--centre a=1", ""}) {
		t.Errorf("the first run: %q", got)
	}
	second := run(map[ID][]string{Columns: {"--centre a=2"}, Dates: {"x"}})
	if got := []string{ask(second, Name, "-"), ask(second, Columns, "--centre a=1"), ask(second, Dates, "-")}; !slices.Equal(got, []string{"registry", "--centre a=2", "x"}) {
		t.Errorf("the second run: %q", got)
	}
	if !slices.Equal(over, []string{"--centre a=1"}) || !slices.Equal(saved[Columns], []string{"--centre a=2"}) {
		t.Errorf("did not fit: %q; kept %q", over, saved)
	}
	if err := second.Forget(Dates); err != nil || saved[Dates] != nil {
		t.Errorf("forgotten: %v, %q", err, saved)
	}
}
