package config

import _ "embed"

//go:embed party.yaml
var partyTemplate string

//go:embed aggregator.yaml
var aggregatorTemplate string

// PartyTemplate returns a site file that is all comments, for `party init` to
// write: it parses as it is, to the defaults.
func PartyTemplate() string { return partyTemplate }

// AggregatorTemplate returns a configuration file that is all comments, for
// `aggregator init` to write: it parses as it is, to the defaults.
func AggregatorTemplate() string { return aggregatorTemplate }
