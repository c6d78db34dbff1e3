// Package schema reads YAML files by tables of their keys. A row of a table says how a key
// is called, what it is for, how its value is written, what leaving it out means, and where
// it stands in the meaning of the file. What a file may hold is known nowhere else: reading,
// defaults, suggestions, refusals, the encoding that is hashed, references and drafted files
// come from the rows. The package knows no file.
package schema
