package fail

// Exit is the exit code of a program.
type Exit int

// The exit codes of party and aggregator.
const (
	OK           Exit = 0
	Failed       Exit = 1 // the study failed, a plan finds nothing usable, or an audit failed or is inconclusive
	Connection   Exit = 2 // refused by the other side, or unreachable with --wait 0
	Absent       Exit = 3 // not there before the deadline or --wait
	Usage        Exit = 4 // arguments, configuration, study file or data
	Internal     Exit = 5
	Refused      Exit = 6   // a policy refuses, or an approval is missing
	Budget       Exit = 7   // the privacy budget refuses
	Disagreement Exit = 8   // parties disagree on version, study or seed
	Signal       Exit = 130 // by Ctrl-C or SIGTERM
)

// Code describes an exit code. Its id is that of errors that have an exit code but no row of their
// own.
type Code struct {
	Exit Exit
	ID   ID
	Says string
	Do   string // what a script should do
}

// Codes returns all exit codes, in order.
func Codes() []Code {
	return []Code{
		{OK, "done", "done", "go on"},
		{Failed, "failed", "the study failed, nothing in a plan is usable, or an audit failed or is inconclusive", "read why; a failed study is over here, or cannot go on: a new study"},
		{Connection, "connection", "refused by the other side, or not there and --wait 0", "check address, operator and firewall: `party doctor`; try again later"},
		{Absent, "absent", "not there before the deadline or --wait", "try again, or wait longer; after a deadline, a new study"},
		{Usage, "usage", "arguments, configuration, study file or data", "correct what the message names; trying again changes nothing"},
		{Internal, "internal", "internal error", "see the end of this page"},
		{Refused, "refused", "refused by policy, or not approved", "a decision is missing, or was no"},
		{Budget, "budget", "the privacy budget refuses", "ask for less, or raise the caps, knowing what that means"},
		{Disagreement, "disagreement", "parties disagree on version, study or seed", "compare versions and study ids with the party that is named"},
		{Signal, "signal", "ended by Ctrl-C or SIGTERM", "run it again: what was done is kept (serve, which ends so, exits with 0)"},
	}
}

// Of gives an error an exit code. The error keeps its text and any id it has.
func (x Exit) Of(err error) error { return &coded{x, err} }

// coded is an error with an exit code set by Exit.Of.
type coded struct {
	exit Exit
	err  error
}

func (c *coded) Error() string { return c.err.Error() }

// Unwrap returns the error without the code.
func (c *coded) Unwrap() error { return c.err }
