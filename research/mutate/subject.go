package mutate

// subject is a package to mutate.
type subject struct {
	path  string  // from the repository's root
	users []suite // tried if the package's own tests detect nothing
}

// suite is a run of a package's tests.
type suite struct {
	path string
	run  string // pattern of tests; empty: all
}

// subjects are the packages on which privacy, agreement and durability depend.
var subjects = []subject{
	{path: "kernel/dp"},
	{path: "protocol/ledger"},
	{path: "protocol/session", users: []suite{{"protocol/session/drive", ""}, {"protocol/protocoltest", "^Test(Scenarios|RandomSchedules|Newcomers)"}}},
	{path: "protocol/release", users: []suite{{"protocol/release/job", ""}}},
	{path: "protocol/release/job"},
	{path: "seed/agree"},
	{path: "node/store"},
}

// tests returns the suites that may detect a change of the package, cheapest first.
func (s subject) tests() []suite {
	return append([]suite{{path: s.path}}, s.users...)
}
