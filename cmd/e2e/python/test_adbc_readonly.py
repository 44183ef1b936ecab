"""The server only reads: what would write is refused, clearly, and changes nothing."""

import adbc_driver_manager as manager
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

DATA = pa.table({"a": pa.array([1, 2, None], pa.int64()), "b": ["x", None, "z"]})


def refused(act):
    with pytest.raises((manager.NotSupportedError, pd.errors.DatabaseError)) as e:
        act()
    error = e.value if isinstance(e.value, manager.Error) else e.value.__cause__  # pandas wraps it
    assert error.status_code == manager.AdbcStatusCode.NOT_IMPLEMENTED and "read-only" in str(error), str(error)


@pytest.mark.parametrize("sql", ["CREATE TABLE t (a BIGINT)", "INSERT INTO events VALUES (1)", "UPDATE events SET k = 1", "DELETE FROM events", "DROP TABLE events", "CREATE VIEW v AS SELECT 1"])
def test_statements(conn, cur, sql):
    refused(lambda: cur.execute(sql))
    statement = manager.AdbcStatement(conn.adbc_connection)
    statement.set_sql_query(sql)
    refused(statement.execute_update)
    statement.close()


def test_executemany(cur):
    refused(lambda: cur.executemany("INSERT INTO events VALUES (?)", [(1,), (2,)]))


@pytest.mark.parametrize("mode", ["create", "append", "replace", "create_append"])
def test_ingest(way, cur, mode):
    refused(lambda: cur.adbc_ingest("t", DATA, mode=mode))
    batches = [pa.record_batch([pa.array(range(1000))], names=["a"])] * 50
    refused(lambda: cur.adbc_ingest("t", pa.RecordBatchReader.from_batches(batches[0].schema, batches), mode=mode))
    assert way.query("SELECT count(*) AS n FROM events").to_pydict() == {"n": [1_000_000]}


def test_frames(conn):
    refused(lambda: pd.DataFrame({"a": [1, 2]}).to_sql("t", conn, index=False, if_exists="append"))
    refused(lambda: pl.DataFrame({"a": [3]}).write_database("t", conn, engine="adbc", if_table_exists="append"))


def test_transactions_are_accepted(way):
    """They have nothing to do: DB-API clients begin one with every connection."""
    with way.connect(autocommit=False) as conn, conn.cursor() as cur:
        for end in (conn.rollback, conn.commit):
            cur.execute("SELECT count(*) FROM events")
            assert cur.fetchone() == (1_000_000,)
            end()
