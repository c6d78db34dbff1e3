// Package mutate measures what tests detect. It draws small changes of the code: < becomes <=, a
// number grows by one, a call is removed, an error is ignored. It runs the tests of the changed
// package on each, and reports the changes that no test detected.
//
// Changes are made on the type-checked syntax tree. Only changes that compile are drawn. Texts of
// errors and panics are not changed. equivalent.txt lists changes that no test can detect, because
// the program behaves the same, each with its reason.
package mutate
