package params

import (
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown/status"
)

// What value yields, besides nil, bool, float64, string and []byte.
type (
	// decimal is unscaled / 10^scale; an integer has the scale 0.
	decimal struct {
		unscaled *big.Int
		scale    int
	}
	// single is a float of 32 bits.
	single float32
	// day is a date, at midnight.
	day time.Time
	// clock is a time of day.
	clock time.Duration
	// instant is a point in time; without a zone it is read as UTC.
	instant time.Time
	// span is an interval.
	span arrow.MonthDayNanoInterval
	// list is the elements of a list.
	list []any
	// record is the fields of a struct.
	record struct {
		names  []string
		values []any
	}
	// mapping is the entries of a map.
	mapping struct{ keys, values []any }
)

func integer(v int64) decimal { return decimal{unscaled: big.NewInt(v)} }

// value reads the i-th value of an array.
func value(a arrow.Array, i int) (any, error) {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return nil, nil
	}
	if v, ok := numericValue(a, i); ok {
		return v, nil
	}
	if v, ok := temporalValue(a, i); ok {
		return v, nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i), nil
	case array.StringLike:
		return a.Value(i), nil
	case *array.Binary:
		return a.Value(i), nil
	case *array.LargeBinary:
		return a.Value(i), nil
	case *array.BinaryView:
		return a.Value(i), nil
	case *array.FixedSizeBinary:
		return a.Value(i), nil
	case *array.Dictionary:
		return value(a.Dictionary(), a.GetValueIndex(i))
	case array.ExtensionArray:
		return value(a.Storage(), i)
	case *array.RunEndEncoded:
		return value(a.Values(), a.GetPhysicalIndex(i))
	}
	return nestedValue(a, i)
}

func numericValue(a arrow.Array, i int) (any, bool) {
	switch a := a.(type) {
	case *array.Int8:
		return integer(int64(a.Value(i))), true
	case *array.Int16:
		return integer(int64(a.Value(i))), true
	case *array.Int32:
		return integer(int64(a.Value(i))), true
	case *array.Int64:
		return integer(a.Value(i)), true
	case *array.Uint8:
		return integer(int64(a.Value(i))), true
	case *array.Uint16:
		return integer(int64(a.Value(i))), true
	case *array.Uint32:
		return integer(int64(a.Value(i))), true
	case *array.Uint64:
		return decimal{unscaled: new(big.Int).SetUint64(a.Value(i))}, true
	case *array.Float16:
		return single(a.Value(i).Float32()), true
	case *array.Float32:
		return single(a.Value(i)), true
	case *array.Float64:
		return a.Value(i), true
	case *array.Decimal32:
		return decimal{big.NewInt(int64(a.Value(i))), scaleOf(a)}, true
	case *array.Decimal64:
		return decimal{big.NewInt(int64(a.Value(i))), scaleOf(a)}, true
	case *array.Decimal128:
		return decimal{a.Value(i).BigInt(), scaleOf(a)}, true
	case *array.Decimal256:
		return decimal{a.Value(i).BigInt(), scaleOf(a)}, true
	}
	return nil, false
}

func scaleOf(a arrow.Array) int { return int(a.DataType().(arrow.DecimalType).GetScale()) }

func temporalValue(a arrow.Array, i int) (any, bool) {
	switch a := a.(type) {
	case *array.Date32:
		return day(time.Unix(int64(a.Value(i))*86400, 0).UTC()), true
	case *array.Date64:
		return instant(time.UnixMilli(int64(a.Value(i))).UTC()), true
	case *array.Time32:
		return clock(time.Duration(a.Value(i)) * a.DataType().(*arrow.Time32Type).Unit.Multiplier()), true
	case *array.Time64:
		return clock(time.Duration(a.Value(i)) * a.DataType().(*arrow.Time64Type).Unit.Multiplier()), true
	case *array.Timestamp:
		return timestamp(int64(a.Value(i)), a.DataType().(*arrow.TimestampType).Unit), true
	case *array.Duration:
		return duration(int64(a.Value(i)), a.DataType().(*arrow.DurationType).Unit)
	case *array.MonthInterval:
		return span{Months: int32(a.Value(i))}, true
	case *array.DayTimeInterval:
		v := a.Value(i)
		return span{Days: v.Days, Nanoseconds: int64(v.Milliseconds) * 1e6}, true
	case *array.MonthDayNanoInterval:
		return span(a.Value(i)), true
	}
	return nil, false
}

func perSecond(u arrow.TimeUnit) int64 { return int64(time.Second / u.Multiplier()) }

func timestamp(v int64, u arrow.TimeUnit) instant {
	n := perSecond(u)
	sec, part := v/n, v%n
	return instant(time.Unix(sec, part*int64(u.Multiplier())).UTC())
}

// duration is a span; false when it has more than 292 years.
func duration(v int64, u arrow.TimeUnit) (any, bool) {
	ns := v * int64(u.Multiplier())
	if ns/int64(u.Multiplier()) != v {
		return nil, false
	}
	return span{Nanoseconds: ns}, true
}

func nestedValue(a arrow.Array, i int) (any, error) {
	switch a := a.(type) {
	case *array.Map:
		start, end := a.ValueOffsets(i)
		keys, err := values(a.Keys(), int(start), int(end))
		if err != nil {
			return nil, err
		}
		items, err := values(a.Items(), int(start), int(end))
		return mapping{keys: keys, values: items}, err
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		elems, err := values(a.ListValues(), int(start), int(end))
		return list(elems), err
	case *array.Struct:
		r := record{}
		for n, f := range a.DataType().(*arrow.StructType).Fields() {
			v, err := value(a.Field(n), i)
			if err != nil {
				return nil, err
			}
			r.names, r.values = append(r.names, f.Name), append(r.values, v)
		}
		return r, nil
	}
	return nil, status.New(status.InvalidArgument, "a value of type %s cannot be bound", a.DataType())
}

func values(a arrow.Array, start, end int) ([]any, error) {
	out := make([]any, 0, end-start)
	for i := start; i < end; i++ {
		v, err := value(a, i)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
