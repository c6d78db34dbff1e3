// Package console is what the two commands share: parsing arguments, printing (data on stdout,
// messages on stderr, text or JSON), logging, showing progress, and exit codes.
package console
