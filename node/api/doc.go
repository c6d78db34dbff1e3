// Package api serves an aggregator's studies over HTTP: a versioned JSON API under
// /api/v1, described by an OpenAPI 3.1 document that is made from the same table of
// routes, health and metrics, and a place for pages (package node/pages) behind the same
// guard.
//
// Handlers read through Views alone, which hold what all parties of a study may see. The
// package imports neither the node nor its store, so no handler reaches a key, a seed, the
// bytes of a sketch or what one party alone may read.
//
// A request needs a Host header that names this server, and a token with the right scope,
// unless the operator wrote tokens: unless_loopback and caller and listener are on the
// loopback interface. Signing in writes a cookie. What programs write goes through Desk
// alone, with a token of a scope of its own in the header: no cookie does, and no loopback
// interface.
package api
