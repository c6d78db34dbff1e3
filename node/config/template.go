package config

import "github.com/cosketch/cosketch/protocol/schema"

// PartyTemplate returns the site file that `party init` writes. It has only comments, so it parses
// to the defaults.
func PartyTemplate() string {
	return schema.Draft("Site file of a party. It stays on this machine: no other node ever sees it. It holds no secrets. "+
		"Every key is shown below as an example: remove the \"#\" at the beginning of its line to use it. "+
		"For keys that are not below a dataset or a study, an environment variable wins: PARTY_LOG_LEVEL over level under log.", PartyKeys())
}

// AggregatorTemplate returns the configuration file that `aggregator init` writes. It has only
// comments, so it parses to the defaults.
func AggregatorTemplate() string {
	return schema.Draft("Configuration of an aggregator. It holds no secrets. Every key is shown with its default; "+
		"remove the \"#\" before those to change. An environment variable wins over a key: AGGREGATOR_HTTP_LISTEN "+
		"over listen under http; entries of lists are separated by commas.", AggregatorKeys())
}
