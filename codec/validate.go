package codec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown/status"
)

// validateArray checks whatever could make reading a value go out of bounds:
// lengths, buffer sizes, offsets and dictionary indices. It does not look at
// the bytes of strings: whoever needs UTF-8 checks that, and the check is
// several times as dear as all of this.
func validateArray(a arrow.Array) error {
	if err := array.Validate(a); err != nil {
		return err
	}
	if a.Len() == 0 {
		return nil
	}
	switch a := a.(type) {
	case *array.String:
		return rising(a.ValueOffsets())
	case *array.Binary:
		return rising(a.ValueOffsets())
	case *array.LargeString:
		return rising(a.ValueOffsets())
	case *array.LargeBinary:
		return rising(a.ValueOffsets())
	case *array.Dictionary:
		return validateDictionary(a)
	case *array.Struct:
		for i := range a.NumField() {
			if err := validateArray(a.Field(i)); err != nil {
				return err
			}
		}
		return nil
	case *array.FixedSizeList:
		return validateArray(a.ListValues())
	case *array.List:
		return validateList(a.Offsets()[a.Offset():a.Offset()+a.Len()+1], a.ListValues())
	case *array.Map:
		return validateList(a.Offsets()[a.Offset():a.Offset()+a.Len()+1], a.ListValues())
	}
	if _, flat := a.DataType().(arrow.FixedWidthDataType); flat {
		return nil
	}
	return array.ValidateFull(a)
}

func validateList(offsets []int32, values arrow.Array) error {
	if err := rising(offsets); err != nil {
		return err
	}
	return validateArray(values)
}

// rising checks that offsets are not negative and never fall; that the first
// and the last are in bounds was checked before.
func rising[T int32 | int64](offsets []T) error {
	signs := offsets[0]
	for i := 1; i < len(offsets); i++ {
		signs |= offsets[i] | (offsets[i] - offsets[i-1])
	}
	if signs < 0 {
		return status.New(status.DataLoss, "offsets fall")
	}
	return nil
}

func validateDictionary(d *array.Dictionary) error {
	size := d.Dictionary().Len()
	for i := range d.Len() {
		if d.IsValid(i) {
			if index := d.GetValueIndex(i); index < 0 || index >= size {
				return status.New(status.DataLoss, "dictionary index %d is outside of the %d values", index, size)
			}
		}
	}
	return validateArray(d.Dictionary())
}
