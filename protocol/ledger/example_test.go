package ledger_test

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
)

// A steward allows ε = 2 for each record of a dataset. Two releases of 0.9 pass, a third does not.
func ExampleCheck() {
	caps := ledger.Caps{Record: &dp.Budget{Epsilon: 2}}
	var entries []ledger.Entry
	for i := range 3 {
		next := ledger.Entry{Dataset: "patients", Study: protocol.StudyID{byte(i + 1)}, Aggregator: protocol.PeerID{9}, Unit: dp.Record,
			Mechanism: dp.Laplace, Epsilon: 0.9, Attributes: 4, At: protocol.Instant(i + 1)}
		if err := ledger.Check(entries, next, caps, ledger.Consent{}); err != nil {
			var exceeded *ledger.Exceeded
			fmt.Printf("%v: %.1f is spent, %.1f is left\n", errors.As(err, &exceeded), float64(exceeded.Spent), float64(exceeded.Left()))
			break
		}
		debited, err := ledger.Append(entries, next)
		if err != nil {
			fmt.Println(err)
			return
		}
		entries = append(entries, debited)
	}
	fmt.Println(ledger.VerifyChain(entries), ledger.Total(entries, ledger.Account{Dataset: "patients", Unit: dp.Record}))
	// Output:
	// true: 1.8 is spent, 0.2 is left
	// <nil> ε = 1.8 after 2 releases
}
