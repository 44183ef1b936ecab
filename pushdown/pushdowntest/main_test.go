package pushdowntest_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain gives the random tests the same seed everywhere; choose others with
// -rapid.seed.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed != nil && seed.Value.String() == "0" {
		_ = seed.Value.Set("1") // a number is a valid seed
	}
	os.Exit(m.Run())
}
