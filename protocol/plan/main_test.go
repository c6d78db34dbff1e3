package plan

import (
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

func TestMain(m *testing.M) { full.Main(m) }
