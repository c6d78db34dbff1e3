// Package filename says how the files of a study are called in a node's state directory: those of its
// results, of its release and of its queries.
package filename
