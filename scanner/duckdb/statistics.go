package duckdb

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
)

// settleTime is how old a file must be before its statistics are used: within
// the resolution of a file system's clock it may change without looking
// changed.
const settleTime = 2500 * time.Millisecond

// settling reports whether the file may still change unnoticed.
func (st stamp) settling(now time.Time) bool { return now.Sub(st.modified) < settleTime }

// extent is what is known of the values of a column. Bounds are the numbers
// inside: days, units since the epoch, unscaled decimals.
type extent struct {
	lo, hi *big.Int // nil without values, or when not bounded
	nulls  int64    // -1 unknown
	// bounded: lo and hi hold for all values; exact: they are among them.
	bounded, exact bool
	// distinct is how many values there are at most, unless they were not counted.
	// Writers may be wrong: only estimates depend on it.
	distinct  int64
	uncounted bool
}

// extents are those of a Parquet file's footer; nil when there are none to be
// relied on, for whatever reason: they only save work.
func (d *described) extents(f *footer) map[string]extent {
	if d.unsettled {
		return nil
	}
	out := make(map[string]extent, len(d.columns))
	for _, c := range d.columns {
		out[c.name] = c.extent(f.chunks[c.name], d.rows)
	}
	return out
}

// extent brings the row groups of a column together. They must cover the file's
// rows exactly: two columns may share a path, and then they do not.
func (c column) extent(chunks []chunkStats, rows int64) extent {
	if _, nested := c.arrow.(arrow.NestedType); nested || c.read != c.physical && c.physical != uuid {
		return extent{nulls: -1, uncounted: true}
	}
	out, covered := extent{bounded: true, exact: true}, int64(0)
	for _, k := range chunks {
		covered += k.rows
		out = out.and(c.chunk(k))
	}
	if covered != rows {
		return extent{nulls: -1, uncounted: true}
	}
	return out
}

// chunk is the extent of a row group.
func (c column) chunk(k chunkStats) extent {
	if !k.known || k.nulls < 0 || k.nulls > k.rows {
		return extent{nulls: -1, uncounted: true}
	}
	out := extent{nulls: k.nulls, bounded: true, exact: true}
	if k.nulls == k.rows {
		return out
	}
	parse := func(text string) *big.Int { return parseBound(text, c.arrow) }
	if c.physical == uuid {
		parse = parseUUID
	}
	out.lo, out.hi, out.exact = parse(k.min), parse(k.max), k.exact
	out.distinct, out.uncounted = k.distinct, k.distinct <= 0
	out.bounded = k.hasMin && k.hasMax && out.lo != nil && out.hi != nil
	return out
}

// and is the extent of both.
func (x extent) and(y extent) extent {
	out := extent{nulls: x.nulls + y.nulls, bounded: x.bounded && y.bounded, exact: x.exact && y.exact,
		distinct: x.distinct + y.distinct, uncounted: x.uncounted || y.uncounted}
	if x.nulls < 0 || y.nulls < 0 {
		out.nulls = -1
	}
	if !out.bounded {
		return out
	}
	out.lo, out.hi = x.lo, x.hi
	if out.lo == nil || y.lo != nil && y.lo.Cmp(out.lo) < 0 {
		out.lo = y.lo
	}
	if out.hi == nil || y.hi != nil && y.hi.Cmp(out.hi) > 0 {
		out.hi = y.hi
	}
	return out
}

func (x extent) statistics(t arrow.DataType) codec.ColumnStats {
	out := codec.ColumnStats{Nulls: x.nulls}
	if !x.uncounted {
		out.Distinct = x.distinct
	}
	if x.bounded && x.lo != nil && x.hi != nil {
		out.Min, out.Max = boxed(x.lo, t), boxed(x.hi, t)
		out.Exact = x.exact && out.Min != nil && out.Max != nil
	}
	return out
}

// parseBound reads a bound of a type whose text is exact; nil for others and
// for what is not plainly a value: infinities, dates before the year 1.
func parseBound(text string, t arrow.DataType) *big.Int {
	switch t := t.(type) {
	case *arrow.Date32Type:
		day, err := time.Parse("2006-01-02", text)
		if err != nil {
			return nil
		}
		return big.NewInt(day.Unix() / secondsPerDay)
	case *arrow.TimestampType:
		return parseTimestamp(text, t)
	case *arrow.Decimal128Type:
		return parseDecimal(text, t.Scale)
	}
	if !arrow.IsInteger(t.ID()) {
		return nil
	}
	return parseDecimal(text, 0)
}

// parseUUID reads the 128 bits of a UUID, whose order is that of its text.
func parseUUID(text string) *big.Int {
	if !pushdown.CanonicalUUID(text) {
		return nil
	}
	n, _ := new(big.Int).SetString(strings.ReplaceAll(text, "-", ""), 16)
	return n
}

// uuidText is nil for what is not 128 bits.
func uuidText(n *big.Int) scalar.Scalar {
	if n.Sign() < 0 || n.BitLen() > 128 {
		return nil
	}
	digits := fmt.Sprintf("%032x", n)
	return scalar.NewStringScalar(strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-"))
}

const secondsPerDay = 86400

// parseTimestamp reads "2006-01-02 15:04:05[.999999999]", with "+00" behind it
// when the type has a zone.
func parseTimestamp(text string, t *arrow.TimestampType) *big.Int {
	if t.TimeZone != "" {
		var utc bool
		if text, utc = strings.CutSuffix(text, "+00"); !utc {
			return nil
		}
	}
	at, err := time.Parse("2006-01-02 15:04:05", text) // a fraction may follow
	if err != nil {
		return nil
	}
	v, err := arrow.TimestampFromTime(at, t.Unit)
	if err != nil || !v.ToTime(t.Unit).Equal(at) {
		return nil
	}
	return big.NewInt(int64(v))
}

// parseDecimal reads a number with exactly the digits of its scale.
func parseDecimal(text string, scale int32) *big.Int {
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	all := whole + fraction
	if whole == "" || len(fraction) != int(scale) || strings.Trim(all, "0123456789") != "" {
		return nil
	}
	v, ok := new(big.Int).SetString(all, 10)
	if ok && digits != text {
		v.Neg(v)
	}
	return v
}

// boxed is nil for a number that is not a value of the type.
func boxed(n *big.Int, t arrow.DataType) scalar.Scalar {
	if d, ok := t.(*arrow.Decimal128Type); ok {
		if n.BitLen() > 127 {
			return nil
		}
		v := decimal128.FromBigInt(n)
		if !v.FitsInPrecision(d.Precision) {
			return nil
		}
		return scalar.NewDecimal128Scalar(v, d)
	}
	switch t := t.(type) {
	case *arrow.StringType: // no other texts have numbers inside
		return uuidText(n)
	case *arrow.Date32Type:
		if n.IsInt64() && n.BitLen() < 32 {
			return scalar.NewDate32Scalar(arrow.Date32(n.Int64()))
		}
		return nil
	case *arrow.TimestampType:
		if !n.IsInt64() {
			return nil
		}
		return scalar.NewTimestampScalar(arrow.Timestamp(n.Int64()), t)
	}
	v, err := scalar.ParseScalar(t, n.String()) // fails out of range
	if err != nil {
		return nil
	}
	return v
}

// statistics are those of all files of a partition, for the columns of the
// table; nil unless each file has some.
func (p *partition) statistics(columns []arrow.Field) map[string]codec.ColumnStats {
	out := make(map[string]codec.ColumnStats, len(columns))
	for _, f := range columns {
		whole := extent{bounded: true, exact: true}
		for _, d := range p.origins {
			if d.stats == nil {
				return nil
			}
			whole = whole.and(d.extent(f))
		}
		out[f.Name] = whole.statistics(f.Type)
	}
	return out
}

// extent is that of a column of the table, which may be wider than the file's,
// or lacking in it.
func (d *described) extent(f arrow.Field) extent {
	at := slices.IndexFunc(d.columns, func(c column) bool { return c.name == f.Name })
	if at < 0 {
		return d.constantExtent(f)
	}
	return widened(d.stats[f.Name], d.columns[at].arrow, f.Type)
}

// constantExtent is that of a column which the file does not have.
func (d *described) constantExtent(f arrow.Field) extent {
	for _, h := range d.hive {
		if h.name == f.Name {
			return widened(h.extent(d.rows), h.typ.arrow, f.Type)
		}
	}
	return extent{nulls: d.rows, bounded: true, exact: true}
}

// widened is an extent for a type that holds the values.
func widened(x extent, from, to arrow.DataType) extent {
	factor := scaling(from, to)
	switch {
	case factor == nil:
		x.bounded, x.exact, x.lo, x.hi = false, false, nil, nil
	case x.lo != nil && x.hi != nil:
		x.lo, x.hi = new(big.Int).Mul(x.lo, factor), new(big.Int).Mul(x.hi, factor)
	}
	return x
}

// scaling is what the numbers inside of one type are multiplied with in another
// one that holds them; nil when they have none.
func scaling(from, to arrow.DataType) *big.Int {
	one := big.NewInt(1)
	if arrow.TypeEqual(from, to) {
		return one
	}
	switch to := to.(type) {
	case *arrow.Decimal128Type:
		scale := to.Scale
		if d, ok := from.(*arrow.Decimal128Type); ok {
			scale -= d.Scale
		}
		return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	case *arrow.TimestampType:
		if t, ok := from.(*arrow.TimestampType); ok {
			return big.NewInt(int64(t.Unit.Multiplier() / to.Unit.Multiplier()))
		}
		return big.NewInt(int64(secondsPerDay * time.Second / to.Unit.Multiplier()))
	}
	if arrow.IsInteger(from.ID()) && arrow.IsInteger(to.ID()) {
		return one
	}
	return nil
}

// version tells the files apart from what they were; empty until they have
// settled.
func (p *partition) version() string {
	var b strings.Builder
	for _, d := range p.origins {
		if !d.settled(time.Now()) {
			return ""
		}
		fmt.Fprintf(&b, "%q %d %d %d %d;", d.origin.path, d.stamp.modified.UnixNano(), d.stamp.size, d.stamp.inode, d.stamp.changed)
	}
	return b.String()
}

// settled reports whether any change from now on would show in the stamp.
func (d *described) settled(now time.Time) bool {
	return !(d.format == formatParquet && d.unsettled) && !d.stamp.settling(now)
}

// lasting reports whether rows that were read stay those of the origin as long as
// its stamp does: a view in a database may read what has none.
func (d *described) lasting(now time.Time) bool { return d.format != formatTable && d.settled(now) }
