package session_test

import (
	"testing"

	tests "github.com/cosketch/cosketch/kernel/full"
)

func TestMain(m *testing.M) { tests.Main(m) }
