"""Cancel, deadlines and sizes through ADBC."""

import threading
import time

import adbc_driver_manager as manager
import pytest
from adbc_driver_flightsql import DatabaseOptions

import clientdata
from conftest import wait_for

Code = manager.AdbcStatusCode


def freed(way):
    """Within two seconds no scanner works any more."""
    wait_for("scans ended", lambda: way.cluster.open_scans() == 0, timeout=2)


def scanning(way):
    wait_for("both scanners work", lambda: all(s.metric("tributary_scanner_open_scans") > 0 for s in way.cluster.scanners))


@pytest.mark.parametrize("sql", [clientdata.ENDLESS, clientdata.SILENT], ids=["while rows come", "before the first row"])
def test_cancel_frees_every_scanner(way, cur, sql):
    # A small window keeps the scans open: otherwise the coordinator holds all that they have to send.
    cur.execute("SET scan_window_bytes = 65536")
    begun = []

    def cancel():
        try:
            scanning(way)
        finally:
            begun.append(time.monotonic())
            cur.adbc_cancel()

    other = threading.Thread(target=cancel)
    other.start()
    with pytest.raises(manager.Error) as e:
        cur.execute(sql)
        cur.fetch_arrow_table()
    assert e.value.status_code == Code.CANCELLED and time.monotonic() - begun[0] < 2
    freed(way)
    other.join()
    cur.execute("SELECT 1 AS a")
    assert cur.fetchall() == [(1,)]


def test_a_cursor_closed_early_frees_every_scanner(way):
    with way.connect() as conn, conn.cursor() as cur:
        cur.execute(clientdata.ENDLESS)
        cur.fetchone()
        scanning(way)
    freed(way)


def test_a_deadline_ends_the_query(way):
    begun = time.monotonic()
    with pytest.raises(manager.Error) as e:
        way.query(clientdata.ENDLESS, **{DatabaseOptions.TIMEOUT_FETCH.value: "1", DatabaseOptions.TIMEOUT_QUERY.value: "1"})
    assert e.value.status_code == Code.TIMEOUT and time.monotonic() - begun < 4
    freed(way)


def test_messages_fit_the_limits_of_clients(way):
    """The driver takes 16 MiB a message, plain gRPC clients 4 MiB."""
    for options in ({}, {DatabaseOptions.WITH_MAX_MSG_SIZE.value: str(4 << 20)}):
        assert way.query(clientdata.BIG, **options).nbytes > 32 << 20
