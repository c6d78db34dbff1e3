package journal_test

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/journal"
)

// Entries hash those before them, so that a log shows where one was taken out.
func ExampleVerify() {
	var log [][]byte
	var last []byte
	for i, event := range []journal.Event{journal.Created, journal.Signed, journal.OnBoard} {
		next, err := journal.Append(last, journal.Entry{Event: event, Study: fmt.Sprintf("%064x", 7)})
		if err != nil {
			fmt.Println(i, err)
			return
		}
		log, last = append(log, next), next
	}
	entries, err := journal.Verify(log)
	fmt.Println(len(entries), err)

	_, err = journal.Verify([][]byte{log[0], log[2]})
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// the audit log is broken at entry 2: its number is 3: entries are missing, or not in order (the hash chain proves the entries before it, not those after it)
}
