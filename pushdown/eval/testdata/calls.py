"""Writes calls.arrow: hard values and, for every function call below, what DuckDB
1.5.6 makes of them. A result column is named by its SQL. Needs duckdb and pyarrow."""

import os
import random

import duckdb
import pyarrow as pa

random.seed(7)
N = 400
BITS = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}
WORDS = ["", "a", "Abc", "ÀÉ", "straße", "İstanbul", "ΑΣ", "日本語", "😀x", "e\u0301X", "a\x00B", "ǅ", "ﬁ", "ẞ", "🏳️\u200d🌈", "\u1e9eß", "Ⅷ", "ⅷ", "\U00010400"]


def number(name):
    bits = BITS[name.removeprefix("u")]
    low, high = (0, (1 << bits) - 1) if name[0] == "u" else (-(1 << bits - 1) + 1, (1 << bits - 1) - 1)
    v = random.choice([low, high, 0, 0, 1, 2, 3, 7, random.randint(low, high), random.randint(low, high), -1 if low else 1])
    return f"'{v}'::{name}"


def floating(kind):
    return f"'{random.choice(['nan', 'inf', '-inf', '-0.0', '0.0', '1.5', '-1.5', '1e30', '1e-30', '0.1', '3'])}'::{kind}"


def instant(kind):
    if kind == "date":
        fixed = ["infinity", "-infinity", "290308-01-01 (BC)", "294247-01-10", "0001-01-01 (BC)", "0001-12-31 (BC)", "0005-02-28 (BC)"]
    else:
        fixed = ["infinity", "-infinity", "290308-01-01 (BC)", "294247-01-10 04:00:54.775806", "0001-01-01 (BC) 23:59:59.5", "1969-12-31 23:59:59.999999"]
    if random.random() < 0.3:
        return f"'{random.choice(fixed)}'::{kind}"
    if random.random() < 0.3:
        year, month = random.choice([1900, 2000, 2100, 2024, 1600, 4, 1]), random.choice([1, 2, 3, 12])
        last = 31 if month != 2 else 28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
        day = random.choice([1, last])
        return f"'{year:04}-{month:02}-{day:02}'::{kind}" if kind == "date" else f"'{year:04}-{month:02}-{day:02} {random.randint(0, 23):02}:{random.randint(0, 59):02}:{random.randint(0, 59):02}.{random.randint(0, 999999):06}'::{kind}"
    if kind == "date":
        return f"(date '1970-01-01' + {random.randint(-3000000, 3000000)})"
    return f"make_timestamp({random.randint(-10**17, 10**17)})"


def text():
    w = random.choice(WORDS) + random.choice(["", random.choice(WORDS), chr(random.choice([random.randint(0x80, 0x2FFF), random.randint(0x1E00, 0x1FFF), random.randint(0x10400, 0x1E943)]))])
    return "(" + " || chr(0) || ".join("'" + p.replace("'", "''") + "'" for p in w.split("\x00")) + ")"


MAKERS = {"s": text, "d": lambda: instant("date"), "ts": lambda: instant("timestamp"),
          "f32": lambda: floating("float"), "f64": lambda: floating("double")}
EXPRESSIONS = []
for prefix in ["", "u"]:
    for kind, bits in BITS.items():
        name = f"{'u' if prefix else 'i'}{bits}"
        MAKERS[name] = lambda kind=prefix + kind: number(kind)
        EXPRESSIONS += [f"{name} % {name}_2", f"{name} // {name}_2", f"{name} % 3::{prefix}{kind}", f"{name} // 0::{prefix}{kind}", f"abs({name})"]
for x in ["d", "ts"]:
    EXPRESSIONS += [f"{f}({x})" for f in ["year", "quarter", "month", "day", "hour", "minute", "second"]]
    EXPRESSIONS += [f"date_trunc('{f}', {x})" for f in ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]]
EXPRESSIONS += ["lower(s)", "upper(s)", "length(s)", "f64 / f64_2", "f32 / f32_2", "abs(f32)", "abs(f64)"]
for n in [0, 1, 2, 9, 2147483647]:
    EXPRESSIONS += [f"left(s, {n})", f"right(s, {n})", f"substring(s, {n + 1 if n < 10 else n})"]
    EXPRESSIONS += [f"substring(s, {k}, {n})" for k in [1, 2, 4] if n < 10]


def main():
    db = duckdb.connect()
    cols = [c for name in MAKERS for c in (name, name + "_2")]
    rows = []
    for _ in range(N):
        rows.append("(" + ", ".join("null" if random.random() < 0.1 else MAKERS[c.removesuffix("_2")]() for c in cols) + ")")
    db.execute(f"create table t as select row_number() over () - 1 as row, * from (values {', '.join(rows)}) v({', '.join(cols)})")
    extra = ", ".join(f'({e}) as "{e}"' for e in EXPRESSIONS)
    table = db.execute(f"select * exclude (row), {extra} from t order by row").to_arrow_table().combine_chunks()
    out = os.path.join(os.path.dirname(__file__), "calls.arrow")
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as w:
        w.write_table(table)
    letters = db.execute("select chr(i::int) as c, lower(c) as l, upper(c) as u from range(1, 1114112) r(i) where i not between 55296 and 57343 and (l <> c or u <> c) order by i").fetchall()
    with open(os.path.join(os.path.dirname(__file__), "letters.txt"), "w") as f:
        f.writelines(" ".join(row) + "\n" for row in letters)
    print(table.num_rows, "rows", table.num_columns, "columns", os.path.getsize(out), "bytes", len(letters), "letters")


main()
