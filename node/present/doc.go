// Package present shows blocks to people: as text for a terminal, and as pages that load nothing.
// Text written by others is made safe here.
package present
