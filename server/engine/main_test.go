package engine

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/pushdown/pushdowntest"
)

// TestMain looks for leaks.
func TestMain(m *testing.M) {
	pushdowntest.FixSeed()
	goleak.VerifyTestMain(m)
}
