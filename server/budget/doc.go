// Package budget bounds what the queries of a coordinator use together: how many
// run at once, and the bytes that they may hold. A query is admitted, or waits its
// turn until a deadline; then it reserves memory as it needs it. A reservation that
// cannot be had is an error of that query alone.
package budget
