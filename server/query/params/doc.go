// Package params gives values to the parameters of a statement: it finds the
// parameters in the text, turns Arrow values into exact SQL literals of the
// parameters' types, and writes the literals in place of the parameters.
//
// Values go into the text because the engine cannot write down the plan of a
// statement that still has parameters.
package params
