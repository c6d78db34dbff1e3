// Package report writes one result of a study as a page that holds everything it needs:
// style and figures inside, no script, no request to anywhere. It computes nothing that is
// not in the result; it orders, rounds and draws.
package report
