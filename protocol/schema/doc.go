// Package schema reads YAML files by tables of their keys. A row of a table gives the key's name,
// its purpose, how its value is written, what leaving it out means, and its path in the meaning of
// the file. Rows are the only source of what a file may hold: reading, defaults, suggestions,
// errors, the encoding that is hashed, references and drafted files come from them. The package
// knows no particular file.
package schema
