// Package monitor turns a node's events into metrics, and says whether the node can serve. Labels
// are states, kinds, calls and codes, from lists that the program fixes; no label is an id, a name
// or a value of data.
package monitor
