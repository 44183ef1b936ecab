package run_test

import (
	"os"
	"testing"

	"github.com/tributary-db/tributary/pushdown/pushdowntest"
)

func TestMain(m *testing.M) {
	pushdowntest.FixSeed()
	os.Exit(m.Run())
}
