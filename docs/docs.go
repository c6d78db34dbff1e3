// Package docs holds the documents, and tests that keep them and the layout that
// they describe true.
package docs
