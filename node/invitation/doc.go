// Package invitation implements one-time invitations. An operator makes one for each organisation
// that is to take part and hands it over in the address of the aggregator. With it, the party's
// node, which no study lists yet, may make one call, which brings its introduction. Only a hash of
// the secret is stored: an invitation cannot be shown again.
package invitation
