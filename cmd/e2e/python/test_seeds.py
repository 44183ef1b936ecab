"""The queries that the product was started for, at every rung and in a mixed cluster."""

import os
import pathlib
import subprocess

import duckdb
import pytest

from compare import assert_same
from conftest import BINARY

SEEDS = {
    "scopes": "SELECT scope, COUNT(*) FROM vqueue_meta GROUP BY scope",
    "statuses": """SELECT status, COUNT(*), SUM(num_inbox), MIN(created_at), MAX(last_finish_at), AVG(num_running)
                   FROM vqueue_meta GROUP BY status""",
    "window": """SELECT status, service_name, COUNT(*), SUM(num_inbox), MIN(created_at), MAX(last_finish_at), AVG(num_running)
                 FROM vqueue_meta WHERE created_at >= TIMESTAMP '2026-07-10' AND created_at < TIMESTAMP '2026-07-13'
                 GROUP BY status, service_name""",
    "distinct": "SELECT COUNT(DISTINCT service_name) FROM vqueue_meta",
    "top": """SELECT id, created_at FROM vqueue_meta WHERE status = 'backing-off' ORDER BY created_at DESC, id LIMIT 20""",
    "export": "SELECT * FROM vqueue_meta",
}
ROWS = 100_000


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("vqueue")
    subprocess.run([BINARY, "demo", "--rows", str(ROWS), "--dir", out, "--listen", "127.0.0.1:0", "--http", ""], check=True, stdout=subprocess.DEVNULL)
    return out / f"vqueue_meta-{ROWS}"


@pytest.fixture(scope="module")
def oracle(data):
    con = duckdb.connect()
    con.execute(f"CREATE VIEW vqueue_meta AS SELECT * FROM read_parquet('{data}/*.parquet')")
    return con


def shares(data, disable):
    files = sorted(data.glob("*.parquet"))
    for i, d in enumerate(disable):
        flags = [f for path in files[i :: len(disable)] for f in ("--table", f"vqueue_meta={path}")]
        yield flags + (["--disable", d] if d else [])


@pytest.fixture(scope="module", params=["", "agg", "filter", "all"])
def cluster(request, start_cluster, data):
    cluster = start_cluster(list(shares(data, ["", request.param, ""])))
    cluster.disabled = request.param
    yield cluster
    cluster.stop()


@pytest.mark.parametrize("pushdown", ["full", "filter", "off"])
@pytest.mark.parametrize("name", SEEDS)
def test_seed(cluster, oracle, name, pushdown):
    with cluster.connect(pushdown=pushdown) as conn, conn.cursor() as cur:
        cur.execute(SEEDS[name])
        got = cur.fetch_arrow_table()
    want = oracle.execute(SEEDS[name]).to_arrow_table()
    assert got.num_rows == want.num_rows
    if name == "export":
        by = [("id", "ascending")]
        got, want = got.sort_by(by), want.sort_by(by)
        for column in want.column_names:
            assert got[column].equals(want[column].cast(got[column].type)), column
    else:
        rows = lambda t: list(zip(*[c.to_pylist() for c in t.columns]))
        assert_same(rows(got), rows(want), ordered=name == "top", what=f"{name} {pushdown} disabled={cluster.disabled!r}")


def test_limit(cluster):
    with cluster.connect() as conn, conn.cursor() as cur:
        cur.execute("SELECT * FROM vqueue_meta LIMIT 100")
        assert cur.fetch_arrow_table().num_rows == 100


def test_explain_tells_the_path(cluster):
    with cluster.connect() as conn, conn.cursor() as cur:
        cur.execute("EXPLAIN " + SEEDS["window"])
        text = "\n".join(r[0] for r in cur.fetchall())
    runs = {line.split()[1]: line.rsplit("runs ")[1] for line in text.splitlines() if line.strip().startswith("scanner ")}
    assert runs["s0"] == runs["s2"] == "filter + aggregate", text
    assert runs["s1"] == {"": "filter + aggregate", "agg": "filter", "filter": "rows", "all": "rows"}[cluster.disabled], text
    assert bool(cluster.disabled) == ("lacks" in text), text


def test_pushdown_moves_groups_not_rows(cluster, oracle):
    groups = oracle.execute("SELECT count(DISTINCT coalesce(scope, '')) FROM vqueue_meta").fetchone()[0]
    with cluster.connect() as conn, conn.cursor() as cur:
        before = cluster.coordinator.metric("tributary_coordinator_rows_received_total")
        cur.execute(SEEDS["scopes"])
        cur.fetchall()
        moved = cluster.coordinator.metric("tributary_coordinator_rows_received_total") - before
    if not cluster.disabled or cluster.disabled == "filter":
        assert moved <= 3 * groups + 24, moved
    else:
        assert moved > ROWS / 10, "the scanner without aggregates streams its rows"
