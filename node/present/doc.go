// Package present shows blocks to people: as text that fits a terminal, and as pages that load nothing. What others
// wrote in them is made harmless here.
package present
