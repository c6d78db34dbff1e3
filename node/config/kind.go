package config

import (
	"fmt"

	"github.com/cosketch/cosketch/node/sniff"
)

// expect refuses a file of another kind than the wanted one. A file of no known kind is left to its
// parser.
func (s source) expect(data []byte, want sniff.Kind) error {
	got, known := sniff.Known(data)
	if !known || got == want {
		return nil
	}
	hint := "--config names this node's own settings, of which advanced config init writes an example"
	if want == sniff.Columns {
		hint = "party data columns writes a column list"
	}
	return fmt.Errorf("reading %s %s: it is %s; %s", s.what, s.path, got, hint)
}
