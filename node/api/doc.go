// Package api serves an aggregator's studies over HTTP: a versioned JSON API under
// /api/v1, described by an OpenAPI 3.1 document that is made from the same table of
// routes, health and metrics, and a place for pages (package node/pages) behind the same
// guard.
//
// Everything is read through Views, which the aggregator implements over what the
// parties of a study may see, or what leaves the aggregator as a number. There is no way
// from a handler to a key, a seed, the bytes of a sketch or what one party alone may
// read; the package imports neither the node nor its store.
//
// What stands between a caller and a handler: the Host header names this server, a token
// with the right scope is shown, or the caller and the listener are both on the loopback
// interface and the operator asked for no more. Nothing is written but by signing in,
// which sets a cookie.
package api
