// Package pages shows an aggregator's studies to people: the list of studies, one study,
// its results with figures, what was promised, and the audit trail. Everything is
// embedded and comes from this server alone; pages work without script, which only keeps
// them up to date.
//
// Pages read what package api reads, through the same guard.
package pages
