// Package docs holds the documents, and tests that keep them and the code's layout in agreement.
package docs
