"""Parameters of prepared statements, the types of results, and the table of types, through ADBC."""

import datetime as dt
import decimal
import math
import threading
import uuid

import adbc_driver_flightsql.dbapi as flightsql
import duckdb
import pyarrow as pa
import pyarrow.flight as flight
import pytest

from conftest import wait_for

D = decimal.Decimal


@pytest.fixture(scope="module")
def cluster(start_cluster, tmp_path_factory):
    out = tmp_path_factory.mktemp("typed")
    con = duckdb.connect()
    for p in range(2):
        con.execute(
            f"""COPY (SELECT i AS id, CAST(i % 3 AS SMALLINT) AS k, 'name ' || i AS name, CAST(i / 4 AS DECIMAL(12, 2)) AS price, i / 8 AS x,
                CAST(i AS FLOAT) / 10 AS f, DATE '2026-01-01' + CAST(i AS INTEGER) AS d, TIMESTAMP '2026-01-01' + INTERVAL (i) HOUR AS ts,
                CAST(CAST('2026-01-01' AS TIMESTAMP) + INTERVAL (i) HOUR AS TIMESTAMPTZ) AS tz, TIME '00:00:00' + INTERVAL (i) MINUTE AS t,
                i % 2 = 0 AS even, CAST('b' || i AS BLOB) AS raw, CAST('00000000-0000-0000-0000-' || lpad('' || i, 12, '0') AS UUID) AS u,
                CAST(i % 256 AS UTINYINT) AS u8, CAST(i AS USMALLINT) AS u16, CAST(i AS UINTEGER) AS u32, CAST(i AS UBIGINT) AS u64,
                [CAST(i % 256 AS UTINYINT)] AS us, CASE WHEN i % 10 = 0 THEN NULL ELSE i END AS maybe
                FROM range({p * 500}, {p * 500 + 500}) t(i)) TO '{out}/typed-{p}.parquet' (FORMAT parquet)"""
        )
    cluster = start_cluster([["--table", f"typed={out}/typed-0.parquet"], ["--table", f"typed={out}/typed-1.parquet"]])
    yield cluster
    cluster.stop()


@pytest.fixture
def cur(cluster):
    with cluster.connect() as conn, conn.cursor() as cur:
        yield cur


def ids(cur, where, values):
    cur.execute(f"SELECT id FROM typed WHERE {where} ORDER BY id", values)
    return [r[0] for r in cur.fetchall()]


UTC = dt.timezone.utc
MATCHES = {
    "id": 7, "k": 1, "name": "name 7", "price": D("1.75"), "x": 0.875, "f": 0.7, "d": dt.date(2026, 1, 8), "ts": dt.datetime(2026, 1, 1, 7),
    "tz": dt.datetime(2026, 1, 1, 7, tzinfo=UTC), "t": dt.time(0, 7), "even": False, "raw": b"b7", "u8": 7, "u16": 7, "u32": 7, "u64": 7,
    "u": str(uuid.UUID(int=7)), "maybe": 7,
}


@pytest.mark.parametrize("column", MATCHES)
def test_a_value_finds_its_row(cur, column):
    assert 7 in ids(cur, f"{column} = ?", (MATCHES[column],))
    assert ids(cur, f"{column} = ? AND id = $1".replace("?", "$2"), (7, MATCHES[column])) == [7]
    assert ids(cur, f"{column} = ?", (None,)) == [], "nothing equals NULL"


@pytest.mark.parametrize(
    "where, value",
    [
        ("id = ?", D("7.00")), ("id = ?", 7.0), ("id = ?", "7"), ("price = ?", 1.75), ("price = ?", "1.75"), ("price = $1 - 0", D("1.75")),
        ("x = ?", D("0.875")), ("d = ?", dt.datetime(2026, 1, 8)), ("d = ?", "2026-01-08"), ("ts = ?", "2026-01-01T07:00:00"),
        ("ts = ?", dt.datetime(2026, 1, 1, 7, tzinfo=UTC)), ("name = 'name ' || ?", 7), ("even = ? AND id = 7", 0),
        ("? IS NOT NULL AND id = 7", "any"), ("name LIKE ? AND id < 10", "%7"), ("id IN (SELECT id FROM typed WHERE id = ?)", 7),
    ],
)
def test_a_value_of_another_type_is_cast(cur, where, value):
    assert ids(cur, where, (value,)) == [7]


@pytest.mark.parametrize(
    "value, text",
    [
        (5.0, "5.0"), (float("inf"), "inf"), (float("nan"), "nan"), (-0.0, "-0.0"), (1e300, "1e+300"), (7, "7"), (True, "true"), (D("1.50"), "1.50"),
        (dt.date(2026, 1, 8), "2026-01-08"), (dt.time(1, 2, 3), "01:02:03"), (dt.datetime(2026, 1, 1, 7, tzinfo=UTC), "2026-01-01 07:00:00+00"),
        (pa.scalar(pa.MonthDayNano([14, 2, 3000])), "1 year 2 months 2 days 00:00:00.000003"), (pa.scalar(86400000, pa.date64()), "1970-01-02"),
    ],
)
def test_the_text_of_a_value_is_the_engines(cur, value, text):
    row = pa.array([value.as_py()], value.type) if isinstance(value, pa.Scalar) else pa.array([value])
    cur.execute("SELECT ?::VARCHAR, 'x' || ?", pa.table([row, row], names=["1", "2"]).to_batches()[0])
    assert cur.fetchone() == (text, "x" + text)


@pytest.mark.parametrize(
    "where, value, names",
    [
        ("id = ?", 7.5, "parameter 1"), ("k = ?", 70000, "SMALLINT"), ("id = ?", "seven", "'seven'"), ("price = ?", D("1.755"), "DECIMAL"),
        ("d = ?", dt.datetime(2026, 1, 8, 1), "DATE"), ("u8 = ?", -1, "UTINYINT"), ("x = ?", 2**53 + 1, "DOUBLE"), ("name = ?", b"\xff", "VARCHAR"),
        ("name = ?", "a\0b", "NUL"), ("id < $m AND name = $n", pa.record_batch([pa.array([b"x"]), pa.array([1])], names=["n", "m"]), "parameter n"), ("ts = ?", 5, "TIMESTAMP"),
    ],
)
def test_a_value_that_would_lose_is_refused(cur, where, value, names):
    with pytest.raises(flightsql.ProgrammingError, match="INVALID_ARGUMENT|INVALID_DATA|Invalid") as e:
        ids(cur, where, value if isinstance(value, pa.RecordBatch) else (value,))
    assert names in str(e.value) and "parameter" in str(e.value)
    assert ids(cur, "id = ?", (1,)) == [1], "the connection goes on"


EXACT = {
    "null": pa.array([None]),
    "bool": pa.array([True]),
    "int8": pa.array([-128], pa.int8()),
    "int16": pa.array([-(2**15)], pa.int16()),
    "int32": pa.array([2**31 - 1], pa.int32()),
    "int64": pa.array([-(2**63)], pa.int64()),
    "uint8": pa.array([255], pa.uint8()),
    "uint16": pa.array([2**16 - 1], pa.uint16()),
    "uint32": pa.array([2**32 - 1], pa.uint32()),
    "uint64": pa.array([2**64 - 1], pa.uint64()),  # comes as decimal128(20, 0)
    "half": pa.array([1.5], pa.float16()),
    "float": pa.array([math.pi], pa.float32()),
    "double": pa.array([0.1 + 0.2]),
    "tiny": pa.array([5e-324]),
    "huge": pa.array([1.7976931348623157e308]),
    "inf": pa.array([-math.inf]),
    "zero": pa.array([-0.0]),
    "decimal": pa.array([D("-0.000001")], pa.decimal128(38, 6)),
    "decimal38": pa.array([D("-" + "9" * 38)], pa.decimal128(38, 0)),
    "decimal32": pa.array([D("-1.25")], pa.decimal32(9, 2)),
    "decimal64": pa.array([D("-12345678901.25")], pa.decimal64(18, 2)),
    "decimal256": pa.array([D("9" * 38)], pa.decimal256(38, 0)),
    "text": pa.array(["it's \"quoted\" \\ $1 ? -- é 🦆\n/*"]),
    "empty": pa.array([""]),
    "large": pa.array(["x" * 100_000], pa.large_string()),
    "view": pa.array(["a view"], pa.string_view()),
    "dictionary": pa.array(["coded"]).dictionary_encode(),
    "blob": pa.array([bytes(range(256))]),
    "large blob": pa.array([b"\0x" * 1000], pa.large_binary()),
    "binary view": pa.array([b"a \xff view"], pa.binary_view()),
    "fixed": pa.array([b"1234"], pa.binary(4)),
    "date": pa.array([dt.date(1, 1, 1)]),
    "date64": pa.array([dt.date(2026, 2, 28)], pa.date64()),
    "time32": pa.array([dt.time(23, 59, 59)], pa.time32("s")),
    "time32[ms]": pa.array([dt.time(23, 59, 59, 999000)], pa.time32("ms")),
    "time64": pa.array([dt.time(23, 59, 59, 999999)], pa.time64("us")),
    "timestamp[s]": pa.array([dt.datetime(9999, 12, 31, 23, 59, 59)], pa.timestamp("s")),
    "timestamp[ms]": pa.array([dt.datetime(1969, 12, 31, 23, 59, 59, 999000)], pa.timestamp("ms")),
    "timestamp[us]": pa.array([dt.datetime(1, 1, 1, 0, 0, 0, 1)], pa.timestamp("us")),
    "timestamp[ns]": pa.array([-1], pa.timestamp("ns")),
    "far": pa.array([9223372022400000000 - 1], pa.timestamp("us")),
    "bc": pa.array([-(10**17)], pa.timestamp("us")),
    "zoned": pa.array([dt.datetime(2026, 7, 1, 12, tzinfo=UTC)], pa.timestamp("us", "Europe/Berlin")),
    "interval": pa.array([(14, -3, 5_000_000)], pa.month_day_nano_interval()),
    "duration": pa.array([dt.timedelta(days=1, microseconds=1)]),
    "list": pa.array([[1, None, 3]], pa.list_(pa.int32())),
    "large list": pa.array([["a", None]], pa.large_list(pa.string())),
    "fixed list": pa.array([[1, 2, 3]], pa.list_(pa.int32(), 3)),
    "list view": pa.array([[1, None]], pa.list_view(pa.int64())),
    "runs": pa.RunEndEncodedArray.from_arrays([1], ["run"]),
    "struct": pa.array([{"a": 1, "b": "it's"}]),
    "map": pa.array([[("k", 1.5), ("l", None)]], pa.map_(pa.string(), pa.float64())),
}


@pytest.mark.parametrize("name", EXACT)
def test_every_type_comes_back_exactly(cur, name):
    value = EXACT[name]
    cur.execute("SELECT ? AS v", pa.record_batch([value], names=["v"]))
    got = cur.fetch_arrow_table()["v"].combine_chunks()
    if isinstance(value, pa.DictionaryArray):
        value = value.dictionary_decode()
    if pa.types.is_duration(value.type):
        assert got.to_pylist()[0][2] == 86_400_000_001_000
        return
    if pa.types.is_timestamp(value.type) or pa.types.is_temporal(value.type) and not pa.types.is_interval(value.type):
        if got.type == pa.date32():
            assert got.cast(value.type).equals(value)
        else:
            wide = pa.int32() if value.type.bit_width == 32 else pa.int64()
            as_int = lambda a: a.cast(value.type).cast(wide).to_pylist() if pa.types.is_timestamp(a.type) else a.to_pylist()
            assert as_int(got) == as_int(value)
        return
    if value.type == pa.uint64():
        got = got.cast(value.type)
    assert str(got.to_pylist()) == str(value.to_pylist())


def test_nan(cur):
    cur.execute("SELECT ?, isnan(?)", (math.nan, math.nan))
    nan, is_nan = cur.fetchone()
    assert math.isnan(nan) and is_nan


def test_named_and_repeated_parameters(cur):
    named = pa.record_batch([pa.array([20]), pa.array([11])], names=["hi", "lo"])
    cur.execute("SELECT count(*) FROM typed WHERE id BETWEEN $lo AND $hi OR id = $lo", named)
    assert cur.fetchone() == (10,)
    cur.execute("SELECT $2::INT - $1::INT, $1::INT", (1, 5))
    assert cur.fetchone() == (4, 1)


def test_text_that_only_looks_like_a_parameter(cur):
    cur.execute("""SELECT '?', "a$1?" /* ? /* $2 */ ? */, $$ ? $1 $$, E'\\'?', ? -- ?\n FROM (SELECT 1 AS "a$1?")""", ("v",))
    assert cur.fetchone() == ("?", 1, " ? $1 ", "'?", "v")


def test_wrong_counts_and_no_values(cur):
    for values in ((), (1, 2)):
        with pytest.raises(flightsql.ProgrammingError, match="parameter"):
            ids(cur, "id = ?", values)
    with pytest.raises(flightsql.ProgrammingError, match="bind a value"):
        cur.execute("SELECT id FROM typed WHERE id = ?")
    with pytest.raises(flightsql.ProgrammingError, match="0 parameters"):
        cur.execute("SELECT 1", (1,))


def test_rebinding(cur):
    for i in (3, 900, 3, 1):
        assert ids(cur, "id = ?", (i,)) == [i], "the same text keeps one handle"


def test_the_schema_of_parameters(cur):
    schema = cur.adbc_prepare("SELECT ?, id FROM typed WHERE price > ? AND d < ? AND name = ? AND u64 = ? LIMIT ?")
    assert schema.types == [pa.string(), pa.decimal128(12, 2), pa.date32(), pa.string(), pa.uint64(), pa.int64()]
    assert schema.names == ["1", "2", "3", "4", "5", "6"]
    assert not cur.adbc_prepare("SELECT 1")


def test_several_rows_of_values_run_one_after_the_other(cur):
    cur.execute("SELECT id, name FROM typed WHERE id = ?", pa.record_batch([pa.array([5, 999, None, 0])], names=["id"]))
    assert cur.fetchall() == [(5, "name 5"), (999, "name 999"), (0, "name 0")]


def test_executemany_with_a_query_says_what_to_do(cur):
    with pytest.raises(flightsql.ProgrammingError, match="execute it as a query"):
        cur.executemany("SELECT id FROM typed WHERE id = ?", [(1,), (2,)])


def test_limit_and_explain(cur):
    cur.execute("SELECT id FROM typed ORDER BY id DESC LIMIT ? OFFSET ?", (2, 1))
    assert cur.fetchall() == [(998,), (997,)]
    cur.execute("EXPLAIN SELECT count(*) FROM typed WHERE k = ? GROUP BY even", (1,))
    text = "\n".join(r[0] for r in cur.fetchall())
    assert "runs filter + aggregate" in text and "filter: (k = 1)" in text, text


def test_parameters_are_pushed(cluster, cur):
    before = cluster.coordinator.metric("tributary_coordinator_rows_received_total")
    cur.execute("SELECT k, count(*), sum(price) FROM typed WHERE ts >= ? AND name <> ? GROUP BY k ORDER BY k", (dt.datetime(2026, 1, 2), "name 30"))
    assert [r[1] for r in cur.fetchall()] == [325, 325, 325]
    assert cluster.coordinator.metric("tributary_coordinator_rows_received_total") - before <= 12


WIDENED = {"u8": pa.int16(), "u16": pa.int32(), "u32": pa.int64(), "u64": pa.decimal128(20, 0)}
RAW = {"u8": pa.uint8(), "u16": pa.uint16(), "u32": pa.uint32(), "u64": pa.uint64()}


@pytest.mark.parametrize("types, want", [("client", WIDENED), ("raw", RAW)])
@pytest.mark.parametrize("pushdown", ["full", "off"])
def test_one_schema_everywhere(cluster, types, want, pushdown):
    with cluster.connect(result_types=types, pushdown=pushdown) as conn, conn.cursor() as cur:
        if types == "client":
            cur.execute("RESET result_types")
        table = conn.adbc_get_table_schema("typed")
        sql = "SELECT * FROM typed WHERE id < {} ORDER BY id"
        for rows in (0, 3):
            promised = cur.adbc_execute_schema(sql.format(rows))
            cur.execute(sql.format(rows))
            got = cur.fetch_arrow_table()
            assert got.num_rows == rows and got.schema.equals(promised, check_metadata=True) and got.schema.equals(table)
            for name, typ in want.items():
                assert got.schema.field(name).type == typ
        assert got.schema.field("us").type.value_type == want["u8"] and got["us"].to_pylist() == [[0], [1], [2]]
        assert [str(v) for v in got["u64"].to_pylist()] == ["0", "1", "2"]
        price = got.schema.field("price").metadata
        assert price[b"ARROW:FLIGHT:SQL:TYPE_NAME"] == b"DECIMAL"
        assert price[b"ARROW:FLIGHT:SQL:PRECISION"] == b"12" and price[b"ARROW:FLIGHT:SQL:SCALE"] == b"2"
        assert table.field("price").metadata.items() >= price.items()
        assert got.schema.field("u64").metadata[b"ARROW:FLIGHT:SQL:TYPE_NAME"] == b"UBIGINT"


def test_dictionaries_are_decoded(cur):
    cur.execute("SELECT id, name::ENUM('name 1', 'name 2') AS e FROM typed WHERE id BETWEEN ? AND ? ORDER BY id", (1, 2))
    table = cur.fetch_arrow_table()
    assert table.schema.field("e").type == pa.string() and table["e"].to_pylist() == ["name 1", "name 2"]


def test_aggregates_of_unsigned_columns(cur):
    cur.execute("SELECT u8 % 2, max(u64), sum(u32), count(*) FROM typed GROUP BY 1 ORDER BY 1")
    assert cur.fetchall() == [(0, 998, 249500, 500), (1, 999, 250000, 500)]


def message(field: int, body: bytes) -> bytes:
    """One protobuf field of bytes."""
    size, n = b"", len(body)
    while n > 127:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return bytes([field << 3 | 2]) + size + bytes([n]) + body


def command(name: str, body: bytes = b"") -> flight.FlightDescriptor:
    url = f"type.googleapis.com/arrow.flight.protocol.sql.{name}".encode()
    return flight.FlightDescriptor.for_command(message(1, url) + message(2, body))


def test_the_table_of_types(cluster):
    with flight.connect(f"grpc://{cluster.coordinator.addr}") as client:
        info = client.get_flight_info(command("CommandGetXdbcTypeInfo"))
        table = client.do_get(info.endpoints[0].ticket).read_all()
        assert table.schema.equals(info.schema) and table.num_columns == 19
        rows = {r["type_name"]: r for r in table.to_pylist()}
        assert rows["DECIMAL"]["create_params"] == ["precision", "scale"] and rows["UBIGINT"]["unsigned_attribute"]
        assert rows["TIMESTAMP"]["sql_data_type"] == 9 and rows["TIMESTAMP"]["datetime_subcode"] == 3
        assert table["data_type"].to_pylist() == sorted(table["data_type"].to_pylist())
        varchar = client.get_flight_info(command("CommandGetXdbcTypeInfo", b"\x08\x0c"))
        assert client.do_get(varchar.endpoints[0].ticket).read_all()["type_name"].to_pylist() == ["VARCHAR", "UUID"]


SLOW = "SELECT count(*) FROM typed a, typed b, typed c, typed d WHERE a.x + b.x + c.x * d.x = -1"


def test_cancel_flight_info(cluster, cur):
    (info,), _ = cur.adbc_execute_partitions(SLOW)  # a partition is a FlightInfo
    failed = []

    def read():
        with cluster.connect() as conn, conn.cursor() as reading:
            try:
                reading.adbc_read_partition(info)
                reading.fetchall()
            except flightsql.Error as e:
                failed.append(e)

    reader = threading.Thread(target=read)
    active = cluster.coordinator.metric("tributary_coordinator_active_queries")
    reader.start()
    wait_for("the query runs", lambda: cluster.coordinator.metric("tributary_coordinator_active_queries") > active)
    with flight.connect(f"grpc://{cluster.coordinator.addr}") as client:
        (result,) = list(client.do_action(flight.Action("CancelFlightInfo", message(1, info))))
    assert result.body.to_pybytes() in (b"\x08\x01", b"\x08\x02"), "cancelled or cancelling"
    reader.join(timeout=5)
    assert not reader.is_alive() and "CancelFlightInfo" in str(failed[0]), failed
    wait_for("the scanners are free", lambda: cluster.open_scans() == 0, timeout=2)
