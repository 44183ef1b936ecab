"""How long clients wait for the metadata of many tables, through Python ADBC.

usage: bench/metadata.py [--tables N] [--repeat N]

A scanner serves the tables, ten schemas of them with twelve columns each; all are one small file. Each figure
is the median and the minimum of the repeats, from the call to the last row in Python.
Needs bin/tributary and the environment of the client tests.
"""

import argparse
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "cmd" / "e2e" / "python"))

import adbc_driver_flightsql.dbapi as flightsql  # noqa: E402
import duckdb  # noqa: E402
import pandas  # noqa: E402
from conftest import Node, http_get, wait_for  # noqa: E402

from run import measure  # noqa: E402

COLUMNS = ", ".join(["i AS id", "i::DECIMAL(12, 2) AS price", *(f"'x' || i AS column_{n}" for n in range(10))])


def scanner(directory, tables):
    """The configuration of a scanner with many tables."""
    file = directory / "table.parquet"
    duckdb.sql(f"COPY (SELECT {COLUMNS} FROM range(10) t(i)) TO '{file}'")
    lines = ["tables:"]
    for i in range(tables):
        lines += [f"  - {{name: s{i % 10}.t{i}, partitions: [{{id: '0', duckdb: {{files: ['{file}']}}}}]}}"]
    config = directory / "scanner.yaml"
    config.write_text("\n".join(lines))
    return ["--config", str(config)]


def tables_in(objects):
    return sum(len(s["db_schema_tables"] or []) for c in objects.to_pylist() for s in c["catalog_db_schemas"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=5000)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        directory = pathlib.Path(tmp)
        nodes = [Node(directory / "scanner.log", "scanner", *scanner(directory, args.tables))]
        try:
            begun = time.perf_counter()
            nodes.append(Node(directory / "coordinator.log", "coordinator", "--scanner", nodes[0].addr))
            wait_for("the coordinator is ready", lambda: http_get(f"http://127.0.0.1:{nodes[1].http_port}/readyz"), 300)
            print(f"ready after {time.perf_counter() - begun:.1f} s")
            with flightsql.connect(f"grpc://{nodes[1].addr}") as conn:
                show(conn, args)
        finally:
            for node in nodes:
                node.stop()


def show(conn, args):
    objects = lambda **how: conn.adbc_get_objects(**how).read_all()
    assert tables_in(objects(db_schema_filter="s_")) == args.tables
    calls = {f"get_objects, depth {depth}": lambda depth=depth: objects(depth=depth) for depth in ("catalogs", "db_schemas", "tables", "all")}
    calls["get_objects of one table"] = lambda: objects(depth="all", db_schema_filter="s7", table_name_filter="t4717")
    calls["get_table_schema"] = lambda: conn.adbc_get_table_schema("t4717", db_schema_filter="s7")
    calls["pandas.read_sql of ten rows"] = lambda: pandas.read_sql("SELECT * FROM s7.t4717", conn)
    print(f"\n{args.tables} tables, through Python ADBC; min / median in ms\n")
    for name, call in calls.items():
        took = measure(lambda: timed(call), args.repeat)
        print(f"{name:32} {took['min'] * 1000:9.1f} /{took['median'] * 1000:9.1f}", flush=True)


def timed(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
