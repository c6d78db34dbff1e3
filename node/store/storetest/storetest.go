// Package storetest creates state directories for tests.
package storetest

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/cosketch/cosketch/node/store"
)

// New creates the state directory of a new node and opens it until the test ends.
func New(t testing.TB, role store.Role) *store.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := store.Create(dir, role, rand.Reader); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir, role, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}
