"""The queries of TPC-H, TPC-DS or ClickBench through Tributary with local scanners, beside DuckDB alone over the same files.

usage: bench/suite.py tpch|tpcds|clickbench DIRECTORY [--repeat N] [--only q01,q02] [--compare SETTINGS]... [--json FILE]

DIRECTORY has what `make tpch TPCH_SF=1`, `make tpcds TPCDS_SF=1` or `make hits` writes. `--compare adaptive=off` adds a column with that
setting (several with commas between); it may be given several times. Ratios are of the minima of the repeats; all sides are warm,
and take turns in one run. Needs bin/tributary and the environment of the client tests.
"""

import argparse
import contextlib
import json
import pathlib
import sys
import time

from run import ROOT, Cluster, drain_adbc, drain_duckdb, duckdb

import suites
from conftest import file_tables

OWN, PEER = "tributary", "duckdb"


def settings(text):
    return dict(pair.split("=", 1) for pair in text.split(",") if pair)


def measure_in_turns(sides, repeat):
    """The least time of each side: the sides take turns, so that other work on the machine hits them alike."""
    for run in sides.values():
        run()
    times = {name: [] for name in sides}
    for _ in range(repeat):
        for name, run in sides.items():
            begun = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begun)
    return {name: min(t) for name, t in times.items()}


def compare(directory, texts, compared, repeat, logs):
    names = suites.tables(directory)
    con = duckdb.connect()
    suites.create_views(con, directory)
    results = {}
    with contextlib.ExitStack() as stack:
        cluster = Cluster(logs, [file_tables(directory, names, i, 3) for i in range(3)])
        stack.callback(cluster.stop)
        conns = {name: stack.enter_context(cluster.connect(**settings(name if name != OWN else ""))) for name in [OWN, *compared]}
        for name, sql in texts.items():
            sides = {side: lambda conn=conn: drain_adbc(conn, sql) for side, conn in conns.items()}
            results[name] = measure_in_turns({**sides, PEER: lambda: drain_duckdb(con, sql)}, repeat)
            print(row(name, results[name]), flush=True)
    return results


def row(name, r):
    cells = [f"{seconds * 1000:14.1f}" for seconds in r.values()]
    ratios = [f"{r[OWN] / seconds:14.2f}" for side, seconds in r.items() if side != OWN]
    return f"{name:6}" + "".join(cells + ratios)


def show(results):
    total = {side: sum(r[side] for r in results.values()) for side in next(iter(results.values()))}
    print(row("total", total))
    for side in list(total)[1:]:
        ratio = lambda n: results[n][OWN] / results[n][side]
        print(f"worst beside {side}:", ", ".join(f"{n} {ratio(n):.2f}" for n in sorted(results, key=ratio, reverse=True)[:15]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", choices=["tpch", "tpcds", "clickbench"])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", type=lambda s: s.split(","))
    parser.add_argument("--compare", action="append", default=[])
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    texts = suites.queries(args.suite)
    if unknown := set(args.only or ()) - set(texts):
        parser.error(f"no such query: {', '.join(sorted(unknown))}")
    logs = ROOT / ".cache" / "bench-logs"
    logs.mkdir(parents=True, exist_ok=True)
    sides = [OWN, *args.compare, PEER]
    print("ms    " + "".join(f"{s:>14}" for s in sides) + "".join(f"{'/ ' + s:>14}" for s in sides[1:]))
    results = compare(args.directory.resolve(), {n: s for n, s in texts.items() if not args.only or n in args.only}, args.compare, args.repeat, logs)
    (args.json or ROOT / ".cache" / f"bench-{args.suite}.json").write_text(json.dumps(results, indent=1))
    show(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
