"""The types that results have, and that other clients can read them."""

import datetime as dt
import decimal
import uuid

import pyarrow as pa
import pytest

TYPES = {
    "CAST(1 AS SMALLINT)": pa.int16(),
    "CAST(1 AS INTEGER)": pa.int32(),
    "CAST(1 AS BIGINT)": pa.int64(),
    "CAST(1.5 AS DOUBLE PRECISION)": pa.float64(),
    "CAST(1.25 AS DECIMAL(10,2))": pa.decimal128(10, 2),
    "CAST(170141183460469231731 AS HUGEINT)": pa.decimal128(38, 0),
    "CAST('x' AS VARCHAR)": pa.string(),
    "CAST(1 = 1 AS BOOLEAN)": pa.bool_(),
    "CAST('2024-02-29' AS DATE)": pa.date32(),
    "CAST('2024-02-29 12:34:56.123456' AS TIMESTAMP)": pa.timestamp("us"),
}


@pytest.mark.parametrize("sql", TYPES)
def test_types(way, sql):
    assert way.query(f"SELECT {sql} AS v").schema.field("v").type == TYPES[sql]


def test_no_column_has_a_type_that_a_client_misreads(way):
    for field in way.query("SELECT * FROM types").schema:
        t = field.type
        assert not (pa.types.is_dictionary(t) or pa.types.is_float16(t) or pa.types.is_unsigned_integer(t)), field
        assert not str(t).startswith(("decimal32", "decimal64", "string_view", "binary_view", "list_view", "large_list_view", "run_end")), field


def test_values(way):
    (row,) = way.query("SELECT * FROM types").to_pylist()
    at = dt.datetime(2024, 2, 29, 12, 34, 56, 123456)
    assert row == {
        "b": True, "i8": -8, "i16": -16, "i32": -32, "i64": -64, "u8": 255, "u16": 65535, "u32": 4294967295, "u64": 18446744073709551615,
        "f32": 1.5, "f64": -2.25, "small": decimal.Decimal("1.25"), "price": decimal.Decimal("-12345678.90"),
        "total": decimal.Decimal("12345678901234567890.123"), "s": "żółć 😀", "bytes": b"\x00\xffa", "d": at.date(), "t": at.time(), "ts": at,
        "tz": at.replace(tzinfo=dt.timezone.utc), "u": str(uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")), "list": [1, None, 3],
        "struct": {"a": 1, "b": "x"}, "map": [("k", 1)],
    }  # fmt: skip
