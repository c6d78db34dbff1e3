package ledger

import (
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
)

// A query is debited once by its number. It is neither the study's release nor another query, and
// counts in addition to both.
func TestQueriesAreDebitedOnce(t *testing.T) {
	g, err := dp.Promise(dp.Laplace, dp.Budget{Epsilon: 2})
	if err != nil {
		t.Fatal(err)
	}
	entry := Entry{Dataset: "d", Study: protocol.StudyID{1}, Aggregator: protocol.PeerID{1}, Unit: dp.Attribute, Attributes: 1}.Promised(g)
	var entries []Entry
	for _, query := range []int{0, 1, 2} {
		entry.Query = query
		for range 2 {
			next, err := Append(entries, entry)
			if err != nil {
				continue
			}
			entries = append(entries, next)
		}
	}
	if len(entries) != 3 {
		t.Fatalf("%d entries of a release and two queries, each tried twice", len(entries))
	}
	for query := range 3 {
		entry.Query = query
		if e, ok := Debited(entries, entry); !ok || e.Query != query || e.Sequence != uint64(query)+1 {
			t.Errorf("query %d is paid for by %+v", query, e)
		}
	}
	entry.Study = protocol.StudyID{2}
	if _, ok := Debited(entries, entry); ok {
		t.Error("another study's query pays")
	}
	if spent := Total(entries, Account{Dataset: "d", Unit: dp.Attribute}); spent.Epsilon != 6 {
		t.Errorf("three releases of ε = 2 spend %v", spent)
	}
}
