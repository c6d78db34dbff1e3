// Package metrics counts what a node does, and writes the counts in Prometheus' text format. Label
// values come from short lists that the program fixes, such as states, kinds of messages and codes.
// None is ever an id, a name or a value of data.
package metrics
