// Package filename names the files of a study in a node's state directory: those of its results,
// its release and its queries.
package filename
