// Package mutate measures what tests notice. It draws small changes of the code, such as < that
// becomes <=, a number that is one more, a call that is left out or an error that nobody looks at,
// runs the tests of the changed package on each, and reports the changes that no test noticed.
//
// Changes are made on the type-checked syntax tree. A change that does not compile is not drawn.
// Texts of errors and panics stay as they are. Changes that no test can notice, because the program
// does the same, stand in equivalent.txt, each with its reason.
package mutate
