"""TPC-H through Python ADBC equals DuckDB over the same files, at every rung and in a mixed cluster.

The data is made by tpc_data.py into TPCH_DIR.
"""

import duckdb
import pytest

import suites
from compare import assert_same
from conftest import file_tables

DATA = suites.data("tpch", "1")
QUERIES = suites.queries("tpch")

# The queries whose whole aggregate over one table is pushed (q01: AVG too).
AGGREGATE = {"q01", "q06"}


@pytest.fixture(scope="module")
def oracle():
    con = duckdb.connect()
    suites.create_views(con, DATA)
    answers = {}

    def answer(name):
        if name not in answers:
            answers[name] = con.execute(QUERIES[name]).fetchall()
        return answers[name]

    return answer


@pytest.fixture(scope="module", params=["all", "mixed"])
def cluster(request, start_cluster):
    disable = {"all": ["", "", ""], "mixed": ["", "agg", "all"]}[request.param]
    names = suites.tables(DATA)
    cluster = start_cluster([file_tables(DATA, names, i, 3) + (["--disable", d] if d else []) for i, d in enumerate(disable)])
    cluster.kind = request.param
    yield cluster
    cluster.stop()


@pytest.mark.parametrize("pushdown", ["full", "filter", "off"])
def test_tpch(cluster, oracle, pushdown):
    if cluster.kind == "mixed" and pushdown != "full":
        return  # a scanner without capabilities is the lower rung
    with cluster.connect(pushdown=pushdown) as conn, conn.cursor() as cur:
        for name, sql in QUERIES.items():
            cur.execute(sql)
            assert_same(cur.fetchall(), oracle(name), what=f"{name} pushdown={pushdown} {cluster.kind}")


def test_tpch_pushes_aggregates(cluster):
    with cluster.connect() as conn, conn.cursor() as cur:
        for name in AGGREGATE:
            before = cluster.coordinator.metric("tributary_coordinator_rows_received_total")
            cur.execute("EXPLAIN ANALYZE " + QUERIES[name])
            text = "\n".join(r[0] for r in cur.fetchall())
            rows = cluster.coordinator.metric("tributary_coordinator_rows_received_total") - before
            assert "aggregate" in text, text
            if cluster.kind == "all":
                assert rows < 1000, f"{name} moved {rows} rows\n{text}"
