// Package adapt changes a plan while it runs, by what the scans that have
// finished showed. It decides only: server/exec starts and stops the scans.
//
// A Graph has a stage for each scan of a plan. Some scans are worth waiting for,
// because what they yield can narrow others or make them needless; they are
// candidates and run first. When one has finished, its facts (rows, join keys)
// are added and the rules run over the plan. They may only take rows from scans,
// and whole scans, in such a way that the result stays the same: the SQL above the
// scans is not touched. The difference between the old and the new plan is what the
// caller starts, stops and tells. Each such round is kept. Once nothing is waited
// for any more, what is read may still narrow what starts later or still runs.
//
// To add a rule, write a stateless Rule in a file of its own with a test file,
// and put it into the list in rules.go. A rule reads the plan and the facts and
// returns the plan with other plan.Scan.Runtime values; applying it twice must
// change nothing, which a test checks over all plans.
package adapt
