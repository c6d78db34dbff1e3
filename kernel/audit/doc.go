// Package audit examines sketches from the view of an attacker who knows R. Exposure says what a
// sketch reveals without noise, and by which rule it is then refused. Judge tests whether a
// mechanism loses more privacy than it claims. Design lists remarks about a sketch whose noise is
// right.
package audit
