package pushdown

import "github.com/apache/arrow-go/v18/arrow"

// sqlTypeKey is the key of field metadata that names the SQL type of a column
// whose Arrow type does not tell it.
const sqlTypeKey = "tributary:sql_type"

const (
	uuidType   = "UUID"
	uuidLength = 36
)

// MarkUUID says that the values of a text column are UUIDs in canonical form
// (see CanonicalUUID): coordinators show it as UUID. Texts in that form are equal
// and ordered as the UUIDs are, so that specifications know nothing of them.
func MarkUUID(f arrow.Field) arrow.Field {
	f.Metadata = arrow.NewMetadata([]string{sqlTypeKey}, []string{uuidType})
	return f
}

// IsUUID reports that a column is marked as one of UUIDs.
func IsUUID(f arrow.Field) bool {
	name, ok := f.Metadata.GetValue(sqlTypeKey)
	return ok && name == uuidType && (f.Type.ID() == arrow.STRING || f.Type.ID() == arrow.LARGE_STRING)
}

// CanonicalUUID reports that a text is 8, 4, 4, 4 and 12 lower-case hexadecimal
// digits joined by hyphens.
func CanonicalUUID(text string) bool {
	for i := range len(text) {
		switch c := text[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return len(text) == uuidLength
}
