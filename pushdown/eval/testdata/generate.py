"""Writes duckdb.arrow: random rows and, for every expression below, what DuckDB
1.5.6 makes of them. A result column is named by its SQL. Needs duckdb and pyarrow."""

import os
import random
import sys

import duckdb
import pyarrow as pa

random.seed(4)
N = 333

INTS = {"i8": "tinyint", "i16": "smallint", "i32": "integer", "i64": "bigint",
        "u8": "utinyint", "u16": "usmallint", "u32": "uinteger", "u64": "ubigint"}
BITS = {k: int(k[1:]) for k in INTS}
DECIMALS = {"d4": (4, 2), "d9": (9, 3), "d18": (18, 2), "d38": (38, 5)}
WORDS = ["", "a", "ab", "abc", "abcabc", "b", "ba", "é", "éa", "日本", "日本語", "%", "_", "a_c", "a%c", "A", "zz", "\\", "a\nb", "😀x"]


def integer(name):
    bits = BITS[name]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if name[0] == "i" else (0, (1 << bits) - 1)
    return random.choice([low, high, 0, 1, 2, max(low, -1), 7, random.randint(low, high), random.randint(max(low, -9), 9)])


def floating(kind):
    v = random.choice(["nan", "inf", "-inf", "-0.0", "0.0", "1.5", "-1.5", "1e30", "1e-30", "0.1", str(random.randint(-3, 3))])
    return f"'{v}'::{kind}"


def decimal(p, s):
    n = random.randint(0, 10 ** random.randint(1, p) - 1) * random.choice([1, -1])
    if random.random() < 0.2:
        n = random.choice([10 ** p - 1, 1 - 10 ** p, 0, 10 ** s, 5])
    text = str(abs(n)).rjust(s + 1, "0")
    return f"'{'-' if n < 0 else ''}{text[:-s]}.{text[-s:]}'::decimal({p},{s})"


def quoted(w):
    return "'" + w.replace("'", "''") + "'"


def day():
    return f"'{random.choice(['1970-01-01', '1969-12-31', '2024-02-29', '0001-01-01', '9999-12-31', '2000-01-01', 'infinity', '-infinity'])}'::date"


def clock():
    return f"'{random.choice(['00:00:00', '23:59:59.999999', '12:34:56.789', '12:34:56'])}'::time"


def stamp(kind):
    fixed = ["1970-01-01 00:00:00", "1969-12-31 23:59:59", "2024-02-29 12:00:00", "2000-01-01 00:00:00", "infinity", "-infinity"]
    if kind != "timestamp_s":
        fixed.append("2001-02-03 04:05:06.789")
    return f"'{random.choice(fixed)}'::{kind}"


MAKERS = {"b": lambda: random.choice(["true", "false"])}
for name, sql in INTS.items():
    MAKERS[name] = lambda name=name, sql=sql: f"'{integer(name)}'::{sql}"
MAKERS["f32"] = lambda: floating("float")
MAKERS["f64"] = lambda: floating("double")
for name, (p, s) in DECIMALS.items():
    MAKERS[name] = lambda p=p, s=s: decimal(p, s)
MAKERS["s"] = lambda: quoted(random.choice(WORDS) + random.choice(["", "", random.choice(WORDS)]))
MAKERS["bl"] = lambda: f"'{random.choice(['', 'a', 'ab', 'b'])}'::blob"
MAKERS["dt"] = day
MAKERS["tm"] = clock
for name, kind in {"ts": "timestamp", "tss": "timestamp_s", "tsms": "timestamp_ms", "tsns": "timestamp_ns", "tz": "timestamptz"}.items():
    MAKERS[name] = lambda kind=kind: stamp(kind)

LITERALS = {
    "b": "true", "i8": "7::tinyint", "i16": "7::smallint", "i32": "7::integer", "i64": "7::bigint",
    "u8": "7::utinyint", "u16": "7::usmallint", "u32": "7::uinteger", "u64": "7::ubigint",
    "f32": "1.5::float", "f64": "1.5::double", "d4": "1.00::decimal(4,2)", "d9": "1.000::decimal(9,3)",
    "d18": "1.00::decimal(18,2)", "d38": "1.00000::decimal(38,5)", "s": "'abc'", "bl": "'ab'::blob",
    "dt": "'2000-01-01'::date", "tm": "'12:34:56'::time", "ts": "'2000-01-01'::timestamp",
    "tss": "'2000-01-01'::timestamp_s", "tsms": "'2000-01-01'::timestamp_ms", "tsns": "'2000-01-01'::timestamp_ns",
    "tz": "'2000-01-01'::timestamptz",
}

EXPRESSIONS = []
for name, lit in LITERALS.items():
    for op in ["=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"]:
        EXPRESSIONS += [f"{name} {op} {name}_2", f"{name} {op} {lit}", f"{lit} {op} {name}"]
    EXPRESSIONS += [f"{name} is null", f"{name} is not null", f"coalesce({name}, {name}_2)",
                    f"case when b then {name} when b_2 then {name}_2 end"]
for op in ["=", "<>", "<", "<=", ">", ">="]:
    EXPRESSIONS += [f"f32 {op} 'nan'::float", f"f64 {op} 'nan'::double", f"f64 {op} '-0.0'::double"]
EXPRESSIONS += ["b and b_2", "b or b_2", "not b", "b and null::boolean", "b or null::boolean",
                "(i32 < i32_2) and (f64 > f64_2) or not (s = s_2)"]
for p in ["", "%", "%%", "_", "__", "%_", "_%", "a%", "%a", "%a%", "a%c", "a_c", "%b%a%", "_b_", "%日_", "é%", "abc", "%_a_%", "a%b%", "%ab", "_%_%_", "%本%"]:
    EXPRESSIONS += [f"s like {quoted(p)}", f"s not like {quoted(p)}"]
EXPRESSIONS += ["prefix(s, 'ab')", "suffix(s, 'a')", "contains(s, 'b')", "prefix(s, '')"]
for head in ["i32 in", "i32 not in"]:
    EXPRESSIONS += [f"{head} (0, 1)", f"{head} (0, null)", f"{head} (0, 1, 2, 3, 4, 5, 6, 7)", f"{head} (0, 1, 2, 3, 4, 5, 6, 7, null)"]
EXPRESSIONS += ["f64 in ('nan'::double, 0.0::double)", "f64 in ('nan'::double, 0.0::double, 1, 2, 3, 4)",
                "s in ('a', 'abc')", "s in ('a', 'abc', 'b', '', 'ba', '%')", "s not in ('a', 'abc', 'b', '', 'ba', null)",
                "d9 in (0, 1, 0.005, 2, 3, 4)", "b in (true)", "b not in (true, null)"]
EXPRESSIONS += ["f64 + f64_2", "f64 - f64_2", "f64 * f64_2", "f32 + f32_2", "f32 * f32_2",
                "d4 + d4_2", "d4 - d4_2", "d4 * d4_2", "d4 * d9", "d9 * d9_2", "d18 * d18_2", "d9 + d9_2", "d18 * d9"]
for name in INTS:
    EXPRESSIONS += [f"{name}::double"]
for name, types in {"i8": ["smallint", "bigint", "decimal(5,2)"], "u8": ["smallint", "ubigint", "integer"],
                    "i32": ["bigint", "decimal(12,2)", "decimal(38,20)"], "u32": ["bigint"], "i64": ["decimal(19,0)", "decimal(38,18)"],
                    "u64": ["decimal(20,0)"], "f32": ["double"], "d4": ["double", "decimal(10,5)", "decimal(3,0)", "decimal(4,1)"],
                    "d9": ["double", "decimal(9,2)", "decimal(20,10)", "decimal(38,0)"], "d18": ["double", "decimal(18,0)"],
                    "d38": ["double", "decimal(38,0)", "decimal(38,2)"], "ts": [], "tss": ["timestamp_ms", "timestamp", "timestamp_ns"],
                    "tsms": ["timestamp", "timestamp_ns"], "dt": ["timestamp"], "b": []}.items():
    EXPRESSIONS += [f"{name}::{t}" for t in types]
EXPRESSIONS.append("ts::timestamp_ns")


def main():
    db = duckdb.connect()
    db.execute("set timezone = 'UTC'")
    cols = [c for name in MAKERS for c in (name, name + "_2")]
    types = {}
    rows = []
    for _ in range(N):
        rows.append("(" + ", ".join("null" if random.random() < 0.12 else MAKERS[c.removesuffix("_2")]() for c in cols) + ")")
    db.execute(f"create table t as select row_number() over () - 1 as row, * from (values {', '.join(rows)}) v({', '.join(cols)})")
    extra = []
    for e in EXPRESSIONS:
        try:
            _ = db.execute(f"select {e} from t").to_arrow_table()
        except duckdb.Error as err:
            print("left out:", e, "--", str(err).split("\n")[0], file=sys.stderr)
            continue
        extra.append(f'({e}) as "{e}"')
    table = db.execute(f"select * exclude (row), {', '.join(extra)} from t order by row").to_arrow_table().combine_chunks()
    out = os.path.join(os.path.dirname(__file__), "duckdb.arrow")
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as w:
        w.write_table(table)
    print(table.num_rows, "rows", table.num_columns, "columns", os.path.getsize(out), "bytes")
    print({f.name: str(f.type) for f in table.schema if f.name in MAKERS})


main()
