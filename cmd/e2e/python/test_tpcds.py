"""TPC-DS through Python ADBC equals DuckDB over the same files, at every rung and in a mixed cluster.

The data is made by tpc_data.py into TPCDS_DIR.
"""

import duckdb
import pytest

import suites
from compare import assert_same
from conftest import file_tables

DATA = suites.data("tpcds", "0.1")
QUERIES = suites.queries("tpcds")


class Oracle:
    """DuckDB over the same files. Where the rows that a LIMIT keeps are open, so that answers may differ, the
    statement is replaced by one with a total order."""

    def __init__(self):
        self.con = duckdb.connect()
        suites.create_views(self.con, DATA)
        self.answers = {}

    def __call__(self, name):
        if name not in self.answers:
            sql = QUERIES[name]
            rows = self.con.execute(sql).fetchall()
            total = suites.without_ties(sql, len(self.con.description))
            if total != sql:
                sql, rows = total, self.con.execute(total).fetchall()
            self.answers[name] = sql, rows
        return self.answers[name]


@pytest.fixture(scope="module")
def oracle():
    return Oracle()


@pytest.fixture(scope="module", params=["all", "mixed"])
def cluster(request, start_cluster):
    disable = {"all": ["", "", ""], "mixed": ["", "agg", "all"]}[request.param]
    names = suites.tables(DATA)
    cluster = start_cluster([file_tables(DATA, names, i, 3) + (["--disable", d] if d else []) for i, d in enumerate(disable)])
    cluster.kind = request.param
    yield cluster
    cluster.stop()


@pytest.mark.parametrize("pushdown", ["full", "filter", "off"])
def test_tpcds(cluster, oracle, pushdown):
    if cluster.kind == "mixed" and pushdown != "full":
        return  # a scanner without capabilities is the lower rung
    with cluster.connect(pushdown=pushdown) as conn, conn.cursor() as cur:
        for name in QUERIES:
            sql, want = oracle(name)
            cur.execute(sql)
            assert_same(cur.fetchall(), want, ordered=sql != QUERIES[name], what=f"{name} pushdown={pushdown} {cluster.kind}")


def test_tpcds_is_planned(cluster):
    """No statement falls back to its original text over streamed tables, and most push more than columns."""
    pushed = 0
    with cluster.connect() as conn, conn.cursor() as cur:
        for name, sql in QUERIES.items():
            cur.execute("EXPLAIN " + sql)
            text = "\n".join(r[0] for r in cur.fetchall())
            assert text.startswith("plan: residual"), f"{name}\n{text}"
            pushed += "filtered rows" in text or "partial aggregate" in text
    assert pushed > 80, pushed


def test_answers_have_rows(oracle):
    """The data is large enough for the answers to mean something."""
    empty = [name for name in QUERIES if not oracle(name)[1]]
    assert len(empty) < 20, empty
