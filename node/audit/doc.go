// Package audit attacks what a party would release, and tests whether mechanisms keep their
// promise.
package audit
