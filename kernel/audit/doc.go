// Package audit says what a sketch gives away to whoever knows R, and holds the
// rule by which a sketch without noise is refused.
package audit
