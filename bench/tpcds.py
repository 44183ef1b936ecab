"""The 99 queries of TPC-DS through Tributary with local scanners, beside DuckDB alone over the same files.

usage: bench/tpcds.py DIRECTORY [--repeat N] [--only q01,q02] [--json FILE]

DIRECTORY has what `make tpcds TPCDS_SF=1` writes. Ratios are of the minima of the repeats; both sides are warm, in one run.
Needs bin/tributary and the environment of the client tests.
"""

import argparse
import json
import pathlib
import sys

from run import ROOT, Cluster, drain_adbc, drain_duckdb, duckdb, measure

import tpc
from conftest import file_tables


def compare(directory, only, repeat, logs):
    names = tpc.tables(directory)
    con = duckdb.connect()
    tpc.create_views(con, directory)
    cluster = Cluster(logs, [file_tables(directory, names, i, 3) for i in range(3)])
    results = {}
    try:
        with cluster.connect() as conn:
            for name, sql in tpc.queries("tpcds").items():
                if only and name not in only:
                    continue
                r = {"tributary": measure(lambda: drain_adbc(conn, sql), repeat), "duckdb": measure(lambda: drain_duckdb(con, sql), repeat)}
                r["ratio"] = r["tributary"]["min"] / r["duckdb"]["min"]
                print(f"{name} {r['tributary']['min'] * 1000:9.1f} {r['duckdb']['min'] * 1000:9.1f} {r['ratio']:6.2f}", flush=True)
                results[name] = r
    finally:
        cluster.stop()
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", type=lambda s: s.split(","))
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / ".cache" / "bench-tpcds.json")
    args = parser.parse_args()
    logs = ROOT / ".cache" / "bench-logs"
    logs.mkdir(parents=True, exist_ok=True)
    print("query  tributary    duckdb  ratio (ms, minima)")
    results = compare(args.directory.resolve(), args.only, args.repeat, logs)
    args.json.write_text(json.dumps(results, indent=1))
    total = {side: sum(r[side]["min"] for r in results.values()) for side in ("tributary", "duckdb")}
    worst = sorted(results, key=lambda n: results[n]["ratio"], reverse=True)[:10]
    print(f"total {total['tributary'] * 1000:.0f} {total['duckdb'] * 1000:.0f} {total['tributary'] / total['duckdb']:.2f}")
    print("worst", ", ".join(f"{n} {results[n]['ratio']:.2f}" for n in worst))
    return 0


if __name__ == "__main__":
    sys.exit(main())
