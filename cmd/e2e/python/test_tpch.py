"""TPC-H through Python ADBC equals DuckDB over the same files, at every rung and in a mixed cluster.

TPCH_SF is the scale factor (1 in CI); the data is made by tpch_data.py into TPCH_DIR.
"""

import os
import pathlib

import duckdb
import pytest

from compare import assert_same
from conftest import ROOT, file_tables
from tpch_tables import TABLES

DATA = pathlib.Path(os.environ.get("TPCH_DIR", ROOT / ".cache" / "tpch-1"))
QUERIES = sorted((ROOT / "server" / "plan" / "testdata" / "tpch").glob("q*.sql"))

# The queries whose whole aggregate over one table is pushed (q01: AVG too).
AGGREGATE = {"q01", "q06"}


@pytest.fixture(scope="module")
def oracle():
    assert QUERIES, "the query texts are missing"
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    for t in TABLES:
        con.execute(f"CREATE VIEW {t} AS SELECT * FROM read_parquet('{DATA}/{t}-*.parquet')")
    answers = {}

    def answer(path):
        if path.stem not in answers:
            answers[path.stem] = con.execute(path.read_text()).fetchall()
        return answers[path.stem]

    return answer


@pytest.fixture(scope="module", params=["all", "mixed"])
def cluster(request, start_cluster):
    disable = {"all": ["", "", ""], "mixed": ["", "agg", "all"]}[request.param]
    cluster = start_cluster(
        [file_tables(DATA, TABLES, i, 3) + (["--disable", d] if d else []) for i, d in enumerate(disable)]
    )
    cluster.kind = request.param
    yield cluster
    cluster.stop()


@pytest.mark.parametrize("pushdown", ["full", "filter", "off"])
def test_tpch(cluster, oracle, pushdown):
    if cluster.kind == "mixed" and pushdown != "full":
        return  # a scanner without capabilities is the lower rung
    with cluster.connect(pushdown=pushdown) as conn, conn.cursor() as cur:
        for path in QUERIES:
            cur.execute(path.read_text())
            got = cur.fetchall()
            assert_same(got, oracle(path), what=f"{path.stem} pushdown={pushdown} {cluster.kind}")


def test_tpch_pushes_aggregates(cluster):
    with cluster.connect() as conn, conn.cursor() as cur:
        for name in AGGREGATE:
            sql = next(q for q in QUERIES if q.stem == name).read_text()
            before = cluster.coordinator.metric("tributary_coordinator_rows_received_total")
            cur.execute("EXPLAIN ANALYZE " + sql)
            text = "\n".join(r[0] for r in cur.fetchall())
            rows = cluster.coordinator.metric("tributary_coordinator_rows_received_total") - before
            assert "aggregate" in text, text
            if cluster.kind == "all":
                assert rows < 1000, f"{name} moved {rows} rows\n{text}"
