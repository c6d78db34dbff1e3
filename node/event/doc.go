// Package event is what nodes tell of their work while they do it: how far a party has come with a study,
// and what happens at an aggregator. Whoever watches decides nothing.
package event
