// Package study reads the study file: the YAML text in which organisations agree
// on parties, columns with public bounds, sketches, privacy and analyses.
//
// What a person sees is what is signed. Parse refuses text with invisible or
// ambiguous characters before the YAML parser sees it, and every YAML feature that
// lets a file mean something other than it appears to: anchors, aliases, tags,
// merge keys, duplicate or unknown keys, a second document, silently typed words.
// Everything left out gets a documented default; everything stated is checked
// against everything else, and a study that cannot be answered is refused with the
// line at fault.
//
// A Study's ID is the SHA-256 of the file's bytes. Its Meaning is the SHA-256 of a
// deterministic encoding of what was read, defaults included: two versions of this
// program that read one file differently disagree on its meaning and stop before
// anything leaves.
//
// Features lists the derived vector that a party sketches for each of its records,
// and Explain says in plain words what approval would let out.
package study
