// Package file reads study files: the YAML text in which organisations agree on a study. It also
// drafts a study file from column lists, compares two, and reads analyses that are asked
// afterwards. Only this package knows the format; package study has the model.
//
// What a person sees is what is signed. Parse refuses text with invisible or ambiguous characters
// before the YAML parser sees it, and every YAML feature that lets a file mean something other than
// it appears to: anchors, aliases, tags, merge keys, duplicate or unknown keys, a second document,
// silently typed words. Everything left out gets a documented default. Everything stated is checked
// for consistency, and a study that cannot be answered is refused with the line at fault.
package file
