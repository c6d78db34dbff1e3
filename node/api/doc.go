// Package api serves an aggregator's studies over HTTP: a versioned JSON API under /api/v1, health
// and metrics, and a place for pages (package node/pages) behind the same guard. An OpenAPI 3.1
// document describes the API; it is made from the same table of routes.
//
// Handlers read only through Views, which hold what all parties of a study may see. The package
// imports neither the node nor its store, so no handler can reach a key, a seed, the bytes of a
// sketch or what only one party may read.
//
// A request needs a Host header that names this server, and a token with the right scope. The
// operator can waive the token with tokens: unless_loopback, if caller and listener are on the
// loopback interface. Signing in sets a cookie. Programs write only through Desk, with a token of a
// separate scope in the header; neither a cookie nor the loopback interface suffices.
package api
