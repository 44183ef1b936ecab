"""The command line: formats, the shell, cancel, exit codes, what it says when something is wrong."""

import io
import json
import signal
import subprocess
import sys
import time

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import BINARY, wait_for

SLOW = "SELECT count(*) FROM n a, n b WHERE a.i + b.i < 0"


@pytest.fixture(scope="module")
def cluster(start_cluster, tmp_path_factory):
    out = tmp_path_factory.mktemp("numbers")
    duckdb.sql(f"COPY (SELECT i, 'n' || i AS name FROM range(200000) t(i)) TO '{out}/n.parquet' (FORMAT parquet)")
    cluster = start_cluster([["--table", f"n={out}/n.parquet"]])
    yield cluster
    cluster.stop()


@pytest.fixture
def query(cluster):
    def run(*args, stdin=None):
        server = ["--server", f"grpc://{cluster.coordinator.addr}"]
        return subprocess.run([BINARY, "query", *server, *args], input=stdin, capture_output=True, timeout=30)

    return run


def test_formats(query):
    sql = "SELECT i, name FROM n WHERE i < 2 ORDER BY i"
    run = lambda f: query("--format", f, sql).stdout
    assert run("csv").decode() == "i,name\n0,n0\n1,n1\n"
    assert [json.loads(line) for line in run("json").splitlines()] == [{"i": 0, "name": "n0"}, {"i": 1, "name": "n1"}]
    assert run("table").decode().splitlines() == ["i  name", "-  ----", "0  n0", "1  n1", "(2 rows)"]
    assert pa.ipc.open_stream(run("arrow")).read_all().to_pydict() == {"i": [0, 1], "name": ["n0", "n1"]}
    assert pq.read_table(io.BytesIO(run("parquet"))).to_pydict() == {"i": [0, 1], "name": ["n0", "n1"]}


def test_settings(query):
    out = query("--set", "pushdown=off", "--format", "csv", "EXPLAIN SELECT count(*) FROM n").stdout.decode()
    assert "pushdown: off" in out
    bad = query("--set", "pushdown=maybe", "SELECT 1")
    assert bad.returncode == 1 and "pushdown" in bad.stderr.decode()


def test_shell(query):
    r = query("--format", "csv", stdin=b"SELECT 1 AS a;\nSET pushdown = 'off'; SHOW pushdown;\nSELECT oops;\nSELECT 2 AS b\n")
    assert r.stdout.decode().split() == ["a", "1", "pushdown", "off", "b", "2"]
    assert "oops" in r.stderr.decode() and r.returncode == 1


def test_errors_say_what_to_do(query, tmp_path):
    r = query("SELECT * FROM nowhere")
    assert r.returncode == 1 and "nowhere" in r.stderr.decode()
    r = subprocess.run([BINARY, "query", "--server", "grpc://127.0.0.1:1", "SELECT 1"], capture_output=True, timeout=30)
    assert r.returncode == 1 and "127.0.0.1:1" in r.stderr.decode()
    for args, want in [
        (["query", "--nonsense"], "nonsense"),
        (["scanner", "--table", "t"], "name=glob"),
        (["scanner", "--table", f"t={tmp_path}/nowhere/x.parquet"], "nowhere"),
        (["scanner", "--config", f"{tmp_path}/none.yaml"], "none.yaml"),
        (["coordinator", "--listen", "256.0.0.1:1"], "256.0.0.1:1"),
    ]:
        r = subprocess.run([BINARY, *args], capture_output=True, timeout=30)
        assert r.returncode != 0 and want in r.stderr.decode(), (args, r.stderr)


def idle(cluster):
    busy = cluster.coordinator.metric("tributary_coordinator_active_queries") + cluster.open_scans()
    return busy == 0


def test_interrupt_cancels_on_the_server(cluster):
    p = subprocess.Popen([BINARY, "query", "--server", f"grpc://{cluster.coordinator.addr}", SLOW], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for("the query runs", lambda: cluster.coordinator.metric("tributary_coordinator_active_queries") == 1)
    time.sleep(1.3)
    p.send_signal(signal.SIGINT)
    assert p.wait(timeout=5) == 1
    assert b"Ctrl-C cancels" in p.stderr.read(), "progress after a second"
    wait_for("the server is idle", lambda: idle(cluster), timeout=2)


def test_a_killed_client_stops_its_query(cluster):
    code = f"""
import adbc_driver_flightsql.dbapi as f
with f.connect("grpc://{cluster.coordinator.addr}") as c, c.cursor() as cur:
    cur.execute("{SLOW}")
    cur.fetchall()
"""
    p = subprocess.Popen([sys.executable, "-c", code])
    wait_for("the query runs", lambda: cluster.coordinator.metric("tributary_coordinator_active_queries") == 1)
    p.kill()
    p.wait()
    wait_for("the server is idle", lambda: idle(cluster), timeout=2)


def test_demo(tmp_path):
    r = subprocess.run([BINARY, "demo", "--rows", "5000", "--dir", str(tmp_path), "--listen", "127.0.0.1:0", "--http", ""], capture_output=True, timeout=60)
    out = r.stdout.decode()
    assert r.returncode == 0, r.stderr
    for want in ("tenant-busy", "rows moved", "faster by", "runs aggregate", "adbc_driver_flightsql"):
        assert want in out, out
