package engine

import "github.com/apache/arrow-go/v18/arrow"

// SQLType returns the DuckDB type, as SQL text, of an Arrow type.
func SQLType(t arrow.DataType) (string, error) { return "", errTODO }
