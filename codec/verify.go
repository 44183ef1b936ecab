package codec

import (
	"encoding/binary"

	"github.com/tributary-db/tributary/pushdown/status"
)

// verifyMessage checks the flatbuffer of an Arrow message before the Arrow
// library sees it: that library allocates by the lengths it finds, and a corrupt
// one would end the process, not the scan.
func verifyMessage(header []byte) error {
	v := verifier{b: header}
	root := v.follow(0)
	switch body := v.table(root, messageHeader); v.byteAt(v.field(root, messageHeaderType)) {
	case headerSchema:
		v.schema(body)
	case headerDictionary:
		v.batch(v.table(body, dictionaryData))
	case headerRecordBatch:
		v.batch(body)
	default:
		v.fail("its kind is unknown")
	}
	if v.problem == "" {
		return nil
	}
	return status.New(status.DataLoss, "a malformed Arrow message of %d bytes arrived: %s", len(header), v.problem)
}

// The fields of Arrow's flatbuffers, by position in their tables, and the kinds
// that are told apart.
const (
	messageHeaderType, messageHeader = 1, 2
	schemaFields, schemaMetadata     = 1, 2
	fieldTypeKind, fieldType         = 2, 3
	fieldChildren, fieldMetadata     = 5, 6
	batchNodes, batchBuffers         = 1, 2
	batchCompression, batchVariadic  = 3, 4
	dictionaryData                   = 1

	headerSchema, headerDictionary, headerRecordBatch = 1, 2, 3
	typeUnion                                         = 14
)

const (
	maxSchemaFields = 1 << 16
	offsetBytes     = 4
	// structBytes is the size of a field node and of a buffer entry.
	structBytes = 16
)

// verifier walks a flatbuffer. The first problem sticks; positions are 0 after
// it, and for what is absent.
type verifier struct {
	b       []byte
	fields  int
	problem string
}

func (v *verifier) fail(problem string) {
	if v.problem == "" {
		v.problem = problem
	}
}

// has reports whether n bytes at pos lie within the buffer.
func (v *verifier) has(pos, n int64) bool {
	if v.problem == "" && (pos < 0 || n < 0 || pos+n > int64(len(v.b))) {
		v.fail("it is shorter than it says")
	}
	return v.problem == ""
}

func (v *verifier) byteAt(pos int64) byte {
	if pos == 0 || !v.has(pos, 1) {
		return 0
	}
	return v.b[pos]
}

func (v *verifier) u16(pos int64) int64 {
	if !v.has(pos, 2) {
		return 0
	}
	return int64(binary.LittleEndian.Uint16(v.b[pos:]))
}

func (v *verifier) u32(pos int64) int64 {
	if !v.has(pos, offsetBytes) {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(v.b[pos:]))
}

// follow is the position that the offset at pos leads to. Offsets only lead
// forward, so that there are no cycles.
func (v *verifier) follow(pos int64) int64 {
	if n := v.u32(pos); n > 0 {
		return pos + n
	}
	v.fail("an offset leads nowhere")
	return 0
}

// field is the position of the n-th field of the table at pos.
func (v *verifier) field(pos, n int64) int64 {
	if pos == 0 {
		return 0
	}
	vtable := pos - int64(int32(v.u32(pos)))
	entry := 4 + 2*n
	if v.problem != "" || entry >= v.u16(vtable) {
		return 0
	}
	if offset := v.u16(vtable + entry); offset > 0 && v.has(pos+offset, 1) {
		return pos + offset
	}
	return 0
}

// table is the position of a table in the n-th field.
func (v *verifier) table(pos, n int64) int64 {
	at := v.field(pos, n)
	if at == 0 {
		return 0
	}
	return v.follow(at)
}

// vector is the position of the first element and the length of the vector in
// the n-th field.
func (v *verifier) vector(pos, n, elementBytes int64) (first, length int64) {
	at := v.table(pos, n)
	if at == 0 {
		return 0, 0
	}
	length = v.u32(at)
	if !v.has(at+offsetBytes, length*elementBytes) {
		return 0, 0
	}
	return at + offsetBytes, length
}

func (v *verifier) schema(pos int64) {
	if pos == 0 {
		v.fail("it has no schema")
	}
	v.vector(pos, schemaMetadata, offsetBytes)
	v.children(pos, schemaFields, 0)
}

// children checks the fields in the n-th field of a schema or a field.
func (v *verifier) children(pos, n int64, depth int) {
	if depth > maxTypeDepth {
		v.fail("its types are nested too deep")
		return
	}
	first, length := v.vector(pos, n, offsetBytes)
	if v.fields += int(length); v.fields > maxSchemaFields {
		v.fail("it has too many fields")
	}
	for i := int64(0); i < length && v.problem == ""; i++ {
		child := v.follow(first + i*offsetBytes)
		v.vector(child, fieldMetadata, offsetBytes)
		if v.table(child, fieldType) == 0 || v.byteAt(v.field(child, fieldTypeKind)) == typeUnion {
			v.fail("a field has no type, or a union")
		}
		v.children(child, fieldChildren, depth+1)
	}
}

func (v *verifier) batch(pos int64) {
	if pos == 0 {
		v.fail("it has no rows")
	}
	v.vector(pos, batchNodes, structBytes)
	v.vector(pos, batchBuffers, structBytes)
	v.vector(pos, batchVariadic, 8)
	if v.field(pos, batchCompression) != 0 {
		v.fail("it is compressed, which this protocol version does not know")
	}
}
