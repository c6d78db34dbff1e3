// Package invitation has one-time invitations: an operator makes one for each organisation that is to take part, and
// hands it over in the address of the aggregator. Under it the party's node, which no study lists yet, may make one call,
// which brings its introduction. What is kept of an invitation is a hash: it cannot be shown again.
package invitation
