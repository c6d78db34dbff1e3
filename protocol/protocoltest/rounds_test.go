package protocoltest

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study/file"
)

// Two rounds are refused of more parties than sums are reckoned for at least.
func TestRoundsOfManyParties(t *testing.T) {
	for parties, refused := range map[int]bool{64: false, 65: true} {
		s, err := NewStudy(Terms{Parties: parties})
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.Parse([]byte(strings.Replace(string(s.Source), "\nsketches:", "\nrounds: 2\nsketches:", 1)))
		if err == nil || strings.Contains(err.Error(), "two rounds are of at most 64 parties") != refused {
			t.Errorf("%d parties: %v", parties, err)
		}
	}
}
