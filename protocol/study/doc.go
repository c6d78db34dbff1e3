// Package study is the model of a study: parties, columns with public bounds, sketches, privacy and
// analyses, and what follows from them. Package file reads it from YAML.
//
// A Study's ID is the SHA-256 of the file's bytes. Its Meaning is the SHA-256 of a deterministic
// encoding of what was read, defaults included. Two versions of this program that read one file
// differently disagree on its meaning and stop before anything leaves.
//
// Features lists the derived vector that a party sketches for each of its records. Explain says in
// plain words what would leave the party after approval.
package study
