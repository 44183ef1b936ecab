"""Queries through ADBC: results, schemas, concurrency, partitions."""

import concurrent.futures

import adbc_driver_manager as manager
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import flightwire as wire

ONE_TWO = "SELECT 1 AS a UNION ALL SELECT 2 ORDER BY 1"


def test_select(way):
    table = way.query("SELECT 1 AS a")
    assert table.to_pydict() == {"a": [1]} and pa.types.is_integer(table.schema.field("a").type)


def test_rows_one_by_one(cur):
    cur.execute(ONE_TWO)
    assert cur.description[0][0] == "a"
    assert (cur.fetchone(), cur.fetchall(), cur.fetchone()) == ((1,), [(2,)], None)


def test_unicode(way):
    assert way.query("SELECT 'żółć 😀' AS \"naïve\"").to_pydict() == {"naïve": ["żółć 😀"]}


def test_null_and_empty_results_keep_their_schema(way):
    assert way.query("SELECT NULL AS n").to_pydict() == {"n": [None]}
    assert way.query("SELECT 1 AS a WHERE 1 = 0").to_pydict() == {"a": []}


def test_pandas(conn):
    assert pd.read_sql("SELECT count(*) AS n FROM events", conn)["n"].tolist() == [1_000_000]
    # pandas first asks for tables whose name is like the whole text.
    assert pd.read_sql("SELECT 'it''s 100%' AS a", conn)["a"].tolist() == ["it's 100%"]


def test_polars(conn):
    assert pl.read_database("SELECT count(*) AS n FROM events", conn)["n"].to_list() == [1_000_000]


def test_polars_by_uri(plain):
    """A URI carries no credentials."""
    uri = plain.uri.replace("grpc://", "flightsql://") + "?transport=tcp"
    got = pl.read_database_uri("SELECT k, sum(price) AS s FROM events WHERE id < 7 GROUP BY k ORDER BY k", uri, engine="adbc")
    assert got.rows() == [(k, k) for k in range(7)]


def test_batches(cur):
    cur.execute("SELECT id FROM events")
    assert sum(b.num_rows for b in cur.fetch_record_batch()) == 1_000_000


def test_an_unprepared_statement(conn):
    statement = manager.AdbcStatement(conn.adbc_connection)
    statement.set_sql_query("SELECT 1 AS a")
    stream, _ = statement.execute_query()
    assert pa.RecordBatchReader._import_from_c(stream.address).read_all().to_pydict() == {"a": [1]}
    statement.close()


@pytest.mark.parametrize(
    "sql", ["SELECT 1 AS a", "SELECT count(*) AS n, min(a) AS lo FROM (SELECT 1 AS a) t", "SELECT NULL AS n", "SELECT k, sum(id) FROM events GROUP BY k", "SELECT * FROM types"]
)
def test_one_schema_everywhere(way, cur, sql):
    with way.flight() as f:
        table = wire.run(f, "CommandStatementQuery", wire.text(1, sql))
        assert wire.schema(f, "CommandStatementQuery", wire.text(1, sql)).equals(table.schema, check_metadata=True)
    assert cur.adbc_execute_schema(sql).equals(table.schema)


def test_cursors_interleave(conn, cur):
    with conn.cursor() as other:
        cur.execute(ONE_TWO)
        other.execute("SELECT 3 AS b")
        assert (cur.fetchone(), other.fetchone(), cur.fetchone()) == ((1,), (3,), (2,))


def test_eight_threads_with_connections_of_their_own(way):
    def work(i):
        return [way.query(f"SELECT {i * 100 + j} AS a").to_pydict() for j in range(10)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, got in enumerate(pool.map(work, range(8))):
            assert got == [{"a": [i * 100 + j]} for j in range(10)]


def test_partitions_are_read_one_by_one(cur):
    partitions, schema = cur.adbc_execute_partitions("SELECT 1 AS a UNION ALL SELECT 2")
    assert partitions and schema.names == ["a"]
    rows = []
    for p in partitions:
        cur.adbc_read_partition(p)
        rows += cur.fetchall()
    assert sorted(rows) == [(1,), (2,)]


def test_incremental_execution(cur):
    """PollFlightInfo: partitions appear until the driver says that there are no more."""
    cur.adbc_statement.set_options(**{"adbc.statement.exec.incremental": "true"})
    seen = []
    while more := cur.adbc_execute_partitions("SELECT 1 AS a")[0]:
        seen += more
    assert len(seen) == 1
    cur.adbc_read_partition(seen[0])
    assert cur.fetchall() == [(1,)]


def test_a_substrait_plan_is_refused(way, cur):
    with pytest.raises(manager.Error):
        cur.execute(b"\x00\x01")
        cur.fetchall()
    assert way.query("SELECT 1 AS a").num_rows == 1
