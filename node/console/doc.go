// Package console is what the two commands share: how they parse arguments,
// print (data on stdout, talk on stderr, text or JSON), log, show progress, and
// which exit code an error is.
package console
