"""The tables that every client reads: four partitions of events, one row of every type."""

import pathlib

import duckdb

EVENTS = 1_000_000

# More rows than a test reads: the scans of both scanners stay open, waiting for the reader.
ENDLESS = "SELECT e.*, r.n FROM events e, range(100000) r(n) WHERE e.x + r.n >= 0"
# Much work before the first row, with both scans open.
SILENT = "SELECT count(*) FROM events e, range(100000) r(n) WHERE e.x + r.n < 0"
# More than 32 MiB.
BIG = "SELECT * FROM events"

TYPES = {
    "b": "true",
    "i8": "CAST(-8 AS TINYINT)",
    "i16": "CAST(-16 AS SMALLINT)",
    "i32": "CAST(-32 AS INTEGER)",
    "i64": "CAST(-64 AS BIGINT)",
    "u8": "CAST(255 AS UTINYINT)",
    "u16": "CAST(65535 AS USMALLINT)",
    "u32": "CAST(4294967295 AS UINTEGER)",
    "u64": "CAST(18446744073709551615 AS UBIGINT)",
    "f32": "CAST(1.5 AS FLOAT)",
    "f64": "CAST(-2.25 AS DOUBLE)",
    "small": "CAST(1.25 AS DECIMAL(4, 2))",
    "price": "CAST(-12345678.90 AS DECIMAL(18, 2))",
    "total": "CAST(12345678901234567890.123 AS DECIMAL(38, 3))",
    "s": "'żółć 😀'",
    "bytes": "CAST('\\x00\\xFFa' AS BLOB)",
    "d": "DATE '2024-02-29'",
    "t": "TIME '12:34:56.123456'",
    "ts": "TIMESTAMP '2024-02-29 12:34:56.123456'",
    "tz": "TIMESTAMPTZ '2024-02-29 12:34:56.123456+00'",
    "u": "CAST('12345678-9abc-def0-1234-56789abcdef0' AS UUID)",
    "list": "[1, NULL, 3]",
    "struct": "{'a': 1, 'b': 'x'}",
    "map": "MAP {'k': 1}",
}


def write(out: pathlib.Path) -> list[list[str]]:
    """Writes the files and returns the flags of two scanners that share them."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    step = EVENTS // 4
    for p in range(4):
        con.execute(
            f"""COPY (SELECT i AS id, CAST(i % 7 AS INTEGER) AS k, 'name ' || i AS name, i * 1.5 AS x, DATE '2026-01-01' + CAST(i % 90 AS INTEGER) AS d,
                CAST(i AS DECIMAL(12, 2)) AS price, CASE WHEN i % 5 = 0 THEN NULL ELSE i END AS maybe
                FROM range({p * step}, {(p + 1) * step}) t(i)) TO '{out}/events-{p}.parquet' (FORMAT parquet)"""
        )
    values = ", ".join(f"{value} AS {name}" for name, value in TYPES.items())
    con.execute(f"COPY (SELECT {values}) TO '{out}/types-0.parquet' (FORMAT parquet)")
    con.execute(f"COPY (SELECT {values} WHERE false) TO '{out}/types-1.parquet' (FORMAT parquet)")
    events = [["--table", f"events={out}/events-[{share}].parquet"] for share in ("01", "23")]
    return [flags + ["--table", f"types={out}/types-{i}.parquet"] for i, flags in enumerate(events)]
