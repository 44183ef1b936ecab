"""Prepared statements through ADBC."""

import adbc_driver_manager as manager
import pyarrow as pa
import pytest

import flightwire as wire

ECHO = "SELECT ? AS v"


def test_one_field_a_parameter(cur):
    assert len(cur.adbc_prepare("SELECT id FROM events WHERE k = ? AND name = ?")) == 2


@pytest.mark.parametrize("value", [5, "text", 2.5, True, None])
def test_values_come_back(way, value):
    """A parameter without a context is text: what comes back is the value as DuckDB writes it."""
    (got,) = way.query(ECHO, (value,)).column("v").to_pylist()
    assert got == value or str(got) == str(value).lower() or str(got) == str(value)


def test_every_row_bound_is_an_execution(cur):
    cur.execute(ECHO, pa.record_batch([pa.array([1, 2, 3])], names=["0"]))
    assert [int(v) for (v,) in cur.fetchall()] == [1, 2, 3]


def test_a_statement_runs_again_with_other_values(cur):
    for v in (1, 2):
        cur.execute("SELECT name FROM events WHERE id = ?", (v,))
        assert cur.fetchall() == [(f"name {v}",)]


def test_the_wrong_number_of_values_is_an_error(cur):
    with pytest.raises(manager.ProgrammingError) as e:
        cur.execute(ECHO, (1, 2))
        cur.fetchall()
    assert e.value.status_code == manager.AdbcStatusCode.INVALID_ARGUMENT


def test_a_prepared_statement_survives_commit(way):
    with way.connect(autocommit=False) as conn, conn.cursor() as cur:
        for _ in range(2):
            cur.execute("SELECT count(*) FROM events WHERE k = 1")
            assert cur.fetchone()[0] > 0
            conn.commit()


def test_handles(way):
    with way.flight() as f:
        with pytest.raises(wire.Errors):
            wire.close(f, b"nope")
        handle = wire.prepare(f, "SELECT 1 AS a")
        assert wire.run(f, "CommandPreparedStatementQuery", wire.text(1, handle)).to_pydict() == {"a": [1]}
        wire.close(f, handle)
        with pytest.raises(wire.Errors):
            wire.run(f, "CommandPreparedStatementQuery", wire.text(1, handle))
