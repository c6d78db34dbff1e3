// Package pages shows an aggregator's studies to people: the list of studies, one study, its
// results with figures, the privacy promise, and the audit trail. Everything is embedded and loaded
// only from this server. Pages work without scripts, which only keep them up to date.
//
// Pages read what package api reads, through the same guard.
package pages
