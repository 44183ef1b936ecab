"""Tributary beside what else answers SQL over the same Parquet files, in one run on one machine.

usage: bench/peers.py [--rows N | --tpch DIRECTORY] [--repeat N] [--only NAME,…] [--json FILE]

The table and the queries are those of bench/run.py, or TPC-H's over what `make tpch` writes, and time is measured as
there. The peers are those that bench/peers.sh installed; the others are reported as missing, with the reason.
Needs bin/tributary, and the environment of the client tests.
"""

import argparse
import contextlib
import json
import pathlib
import platform
import shutil
import signal
import sys
import tempfile

from run import QUERIES, ROOT, demo_data, measure  # first: it finds the modules of the client tests

import adbc_driver_flightsql.dbapi as flightsql
import duckdb
import suites
from peer_engines import START, Unavailable, Workload

SECONDS = 4  # about how long a query of a peer is repeated


def seeds(rows, directory):
    return Workload({"vqueue_meta": sorted(demo_data(rows).glob("*.parquet"))}, QUERIES, directory)


def tpch(data, directory):
    return Workload({t: sorted(data.glob(f"{t}-*.parquet")) for t in suites.tables(data)}, suites.queries("tpch"), directory)


def repeated(run, repeat):
    """Fewer repeats, two at least, of what takes long."""
    return measure(run, max(2, min(repeat, int(SECONDS / run()))))


def compare(peers, queries, repeat):
    """The figures by query and peer; a peer that fails has its error there."""
    results = {}
    for name, sql in queries.items():
        results[name] = {}
        expected = peers["Tributary"].run(sql)[1]
        for peer, p in peers.items():
            def once():
                took, rows = p.run(sql)
                if rows != expected:
                    raise Unavailable(f"{rows} rows, not {expected}")
                return took

            try:
                results[name][peer] = repeated(once, 3 if name == "export" else repeat)
            except (Unavailable, flightsql.Error, duckdb.Error, BrokenPipeError) as e:
                results[name][peer] = {"error": str(e)}
            print(f"{name}, {peer}: {results[name][peer]}", file=sys.stderr)
    return results


def start_all(workload, work, only, stack):
    """The peers that start, and why the others do not."""
    peers, missing = {}, {}
    for name, start in START.items():
        if only and name not in ("Tributary", *only):
            continue
        directory = work / name
        directory.mkdir()
        try:
            peers[name] = start(workload, directory)
            stack.callback(peers[name].stop)
        except Unavailable as e:
            missing[name] = str(e)
    return peers, missing


def show(results):
    peers = list(next(iter(results["queries"].values())))
    print(f"\n{results['over']}, to the last row; min / median in ms (× Tributary's min)\n")
    print("| query | " + " | ".join(peers) + " |\n" + "|---" * (len(peers) + 1) + "|")
    notes = dict.fromkeys(f"{name} is missing: {why}" for name, why in results["missing"].items())
    for query, row in results["queries"].items():
        cells = []
        for peer in peers:
            if error := row[peer].get("error"):
                notes[f"{peer}, {query}: {error}"] = None
                cells.append("–")
                continue
            least, median = row[peer]["min"] * 1000, row[peer]["median"] * 1000
            ratio = "" if peer == "Tributary" else f" ({row[peer]['min'] / row['Tributary']['min']:.2f})"
            cells.append(f"{least:.1f} / {median:.1f}{ratio}")
        print(f"| {query} | " + " | ".join(cells) + " |")
    print("\n" + "\n".join(notes))
    show_totals(results["queries"], peers)


def show_totals(queries, peers):
    """The sums of the minima, each over the queries that the peer answered, beside Tributary's of the same ones."""
    print("\n| peer | queries answered | ms in all | Tributary's |\n|---|---|---|---|")
    for peer in peers:
        answered = [row for row in queries.values() if "min" in row[peer]]
        ms = [sum(row[of]["min"] for row in answered) * 1000 for of in (peer, "Tributary")]
        print(f"| {peer} | {len(answered)} | {ms[0]:.0f} | {ms[1]:.0f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=6_400_000)
    parser.add_argument("--tpch", type=pathlib.Path, help="the directory of TPC-H's tables")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", type=lambda s: s.split(","), help="peers to compare with; all if not given")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / ".cache" / "bench-peers.json")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # the servers end, too
    (ROOT / ".cache").mkdir(exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(dir=ROOT / ".cache", prefix="bench-peers-"))  # where files can be linked
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        workload = tpch(args.tpch.resolve(), work / "tables") if args.tpch else seeds(args.rows, work / "tables")
        peers, missing = start_all(workload, work, args.only, stack)
        queries = compare(peers, workload.queries, args.repeat)
    over = f"TPC-H, {args.tpch.name}" if args.tpch else f"{args.rows} rows"
    results = {"over": over, "machine": platform.machine(), "queries": queries, "missing": missing}
    args.json.write_text(json.dumps(results, indent=1))
    show(results)


if __name__ == "__main__":
    main()
