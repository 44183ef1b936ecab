package pushdown

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

// Expr is a typed scalar expression over the columns of one table. The set is
// sealed: eval, the wire and every SQL dialect handle each member.
//
// Two-valued results use arrow.FixedWidthTypes.Boolean with SQL's NULL as
// "unknown".
type Expr interface {
	// Type is the Arrow type of the result.
	Type() arrow.DataType
	isExpr()
}

// Column reads a column of the scanned table by name.
type Column struct {
	// Name is the column's name in the table schema, case preserved.
	Name string
	// DataType is the column's type in the federated table schema.
	DataType arrow.DataType
}

// Field is the nullable field of the column in a schema.
func (c Column) Field() arrow.Field {
	return arrow.Field{Name: c.Name, Type: c.DataType, Nullable: true}
}

// Literal is a constant. A NULL is a Literal whose scalar is not valid.
type Literal struct{ Value scalar.Scalar }

// CompareOp is a comparison operator.
type CompareOp uint8

// The comparisons. Distinct and NotDistinct treat NULL as a value
// (IS [NOT] DISTINCT FROM); floats compare as DuckDB compares them: NaN equals
// NaN and is the largest value, -0 equals +0.
const (
	Equal CompareOp = iota + 1
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	Distinct
	NotDistinct
)

// Mirror is the operator with its sides exchanged: a op b is b op.Mirror() a.
func (op CompareOp) Mirror() CompareOp {
	switch op {
	case Less:
		return Greater
	case LessEqual:
		return GreaterEqual
	case Greater:
		return Less
	case GreaterEqual:
		return LessEqual
	}
	return op
}

// Compare compares two values of the same type.
type Compare struct {
	Op          CompareOp
	Left, Right Expr
}

// And is the three-valued conjunction of two or more booleans.
type And struct{ Args []Expr }

// Or is the three-valued disjunction of two or more booleans.
type Or struct{ Args []Expr }

// Not is three-valued negation.
type Not struct{ Arg Expr }

// IsNull tests for NULL; Negated makes it IS NOT NULL. It is never NULL.
type IsNull struct {
	Arg     Expr
	Negated bool
}

// In tests membership in a list of literals of Arg's type, with SQL's NULL
// semantics: a NULL in Values makes a miss NULL.
type In struct {
	Arg     Expr
	Values  []Literal
	Negated bool
}

// LikeKind is the form of a string match.
type LikeKind uint8

// The string matches. LikePattern is SQL LIKE with % and _ over Unicode code
// points and no escape; the rest are plain substring tests.
const (
	LikePattern LikeKind = iota + 1
	LikePrefix
	LikeSuffix
	LikeContains
)

// Like matches a string against a constant pattern.
type Like struct {
	Arg     Expr
	Kind    LikeKind
	Pattern string
	Negated bool
}

// ArithOp is an arithmetic operator.
type ArithOp uint8

// The arithmetic operators. Overflow is an OutOfRange error, never a wrap.
const (
	Add ArithOp = iota + 1
	Subtract
	Multiply
)

// Arith is exact arithmetic on two integers, decimals or floats. DataType is
// the result type as DuckDB derives it. For decimals, Add and Subtract take
// operands of the result's scale and Multiply adds the scales.
type Arith struct {
	Op          ArithOp
	Left, Right Expr
	DataType    arrow.DataType
}

// Cast converts between types. Only casts that cannot fail or that fail with a
// typed OutOfRange error are valid; see Validate for the table.
type Cast struct {
	Arg      Expr
	DataType arrow.DataType
}

// When is one branch of a Case.
type When struct{ Cond, Then Expr }

// Case is a searched CASE; a nil Else yields NULL.
type Case struct {
	Whens    []When
	Else     Expr
	DataType arrow.DataType
}

// Coalesce yields its first argument that is not NULL.
type Coalesce struct {
	Args     []Expr
	DataType arrow.DataType
}

func (Column) isExpr()   {}
func (Literal) isExpr()  {}
func (Compare) isExpr()  {}
func (And) isExpr()      {}
func (Or) isExpr()       {}
func (Not) isExpr()      {}
func (IsNull) isExpr()   {}
func (In) isExpr()       {}
func (Like) isExpr()     {}
func (Arith) isExpr()    {}
func (Cast) isExpr()     {}
func (Case) isExpr()     {}
func (Coalesce) isExpr() {}

// Type returns the column's declared type.
func (e Column) Type() arrow.DataType { return e.DataType }

// Type returns the literal's type.
func (e Literal) Type() arrow.DataType { return e.Value.DataType() }

// Type is boolean.
func (Compare) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

// Type is boolean.
func (And) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

// Type is boolean.
func (Or) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

// Type is boolean.
func (Not) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

// Type is boolean.
func (IsNull) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

// Type is boolean.
func (In) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

// Type is boolean.
func (Like) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

// Type returns the declared result type.
func (e Arith) Type() arrow.DataType { return e.DataType }

// Type returns the target type.
func (e Cast) Type() arrow.DataType { return e.DataType }

// Type returns the declared result type.
func (e Case) Type() arrow.DataType { return e.DataType }

// Type returns the declared result type.
func (e Coalesce) Type() arrow.DataType { return e.DataType }
