// Package event has the progress that nodes report: how far a party has come with a study, and what happens
// at an aggregator. Nothing is decided on it.
package event
