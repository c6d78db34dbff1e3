// Package event defines the progress that nodes report: how far a party has come with a study, and
// what happens at an aggregator. No decision depends on it.
package event
