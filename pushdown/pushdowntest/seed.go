package pushdowntest

import "flag"

// FixSeed gives rapid's random tests the same seed everywhere, unless
// -rapid.seed chooses another. A TestMain calls it before it runs the tests.
func FixSeed() {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed != nil && seed.Value.String() == "0" {
		_ = seed.Value.Set("1") // a number is a valid seed
	}
}
