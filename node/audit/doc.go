// Package audit attacks what a party would release, with what it knows itself, and tries whether mechanisms
// give what they promise.
package audit
