package pages

import (
	"testing"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/protocol"
)

// The trail shows each day once, and says where no time was recorded.
func TestTrailByDays(t *testing.T) {
	const noon = protocol.Instant(1_800_000_000 - 1_800_000_000%86400 + 43200)
	var messages []api.Message
	for i, at := range []protocol.Instant{0, noon, noon + 60, noon + 86400, 0} {
		messages = append(messages, api.Message{Number: uint64(i), Kind: protocol.KindApprove, Noted: at})
	}
	var got []string
	for _, day := range days(messages) {
		got = append(got, day.Name)
		for _, m := range day.Messages {
			got = append(got, m.At)
		}
	}
	want := []string{"", "", "15 January 2027", "12:00:00", "12:01:00", "16 January 2027", "12:00:00", "", ""}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got, want)
			break
		}
	}
}
