// Package config reads a node's own configuration: the site file of a party, the configuration file
// of an aggregator, and the default paths of both.
//
// Neither file is ever shared or holds a secret: keys and seeds are separate files in the state
// directory. The site file says where a party's data are, how much privacy budget each dataset may
// spend, and which dataset answers which study. Everything that nodes must agree on is in the study
// file.
//
// Files are strict YAML: unknown and repeated keys, anchors, aliases, tags, merge keys and a second
// document are errors, reported with their line.
//
// The environment wins over the file, for all keys that can occur only once in it. PartyTemplate
// and AggregatorTemplate explain every key.
package config
