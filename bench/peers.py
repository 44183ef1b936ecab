"""Tributary beside what else answers SQL over the same Parquet files, in one run on one machine.

usage: bench/peers.py [--rows N] [--repeat N] [--only NAME,…] [--json FILE]

The table and the queries are those of bench/run.py, and so is how time is measured. The peers are those that
bench/peers.sh installed; the others are reported as missing, with the reason.
Needs bin/tributary, and the environment of the client tests.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from run import QUERIES, ROOT, demo_data, measure  # first: it finds the modules of the client tests

import adbc_driver_flightsql.dbapi as flightsql
import duckdb
from conftest import Cluster, free_port, wait_for

PEERS = ROOT / ".cache" / "peers"
SECONDS = 4  # about how long a query of a peer is repeated


class Unavailable(Exception):
    """Why a peer, or a query of a peer, is not in the tables."""


def installed(name):
    """The programs of a peer's environment."""
    if (PEERS / name / ".complete").exists():
        return PEERS / name / "bin"
    reason = PEERS / f"{name}.missing"
    raise Unavailable(reason.read_text().strip() if reason.exists() else "not installed: run bench/peers.sh")


class Server:
    """A Flight SQL server in a process of its own."""

    def __init__(self, log, port, *args, setup=(), cwd=None, **env):
        with log.open("wb") as out:
            self.process = subprocess.Popen([str(a) for a in args], stdout=out, stderr=out, cwd=cwd, env={**os.environ, **env})
        try:
            wait_for(f"it answers, see {log}", lambda: self.connect(port, setup), 60)
        except AssertionError as e:
            self.stop()
            raise Unavailable(str(e)) from e

    def connect(self, port, setup):
        if self.process.poll() is not None:
            raise AssertionError(f"it ended with {self.process.returncode}")
        self.conn = flightsql.connect(f"grpc://127.0.0.1:{port}", autocommit=True)
        try:
            for sql in (*setup, "SELECT COUNT(*) FROM vqueue_meta"):
                run_adbc(self.conn, sql)
        except flightsql.Error:
            self.conn.close()
            return False
        return True

    def run(self, sql):
        return run_adbc(self.conn, sql)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Tributary:
    def __init__(self, data, work):
        files = sorted(data.glob("*.parquet"))
        self.cluster = Cluster(work, [[f for p in files[i::3] for f in ("--table", f"vqueue_meta={p}")] for i in range(3)])
        self.conn = self.cluster.connect()

    def run(self, sql):
        return run_adbc(self.conn, sql)

    def stop(self):
        self.conn.close()
        self.cluster.stop()


class DuckDB:
    def __init__(self, data, _):
        self.con = duckdb.connect()
        self.con.execute(f"CREATE VIEW vqueue_meta AS SELECT * FROM read_parquet('{data}/*.parquet')")

    def run(self, sql):
        return timed(lambda: self.con.execute(sql).to_arrow_reader(64 << 10))

    def stop(self):
        self.con.close()


class Ballista:
    def __init__(self, data, work):
        args = [installed("ballista") / "python", ROOT / "bench" / "peer_ballista.py", data, free_port(), free_port()]
        # what it shuffles is beside the log, and deleted with it
        with (work / "ballista.log").open("wb") as log:
            self.process = subprocess.Popen([str(a) for a in args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                            cwd=work, env={**os.environ, "TMPDIR": str(work)})

    def run(self, sql):
        if sql == QUERIES["export"]:
            raise Unavailable("left out: it sends whole view buffers, and its client takes 17 GB")
        self.process.stdin.write(json.dumps(sql) + "\n")
        self.process.stdin.flush()
        answered, _, _ = select.select([self.process.stdout], [], [], 60)
        if not answered:
            self.process.kill()  # it would answer late, and another question
            raise Unavailable("no answer in 60 s")
        answer = json.loads(self.process.stdout.readline() or '{"error": "it ended"}')
        if "error" in answer:
            raise Unavailable(answer["error"])
        return answer["seconds"], answer["rows"]

    def stop(self):
        self.process.kill()
        self.process.wait()


def sail(mode):
    def start(data, work):
        port = free_port()
        return Server(work / f"sail-{mode}.log", port, installed("sail") / "sail", "flight", "server", "--port", port, cwd=work, SAIL_MODE=mode,
                      setup=[f"CREATE TABLE IF NOT EXISTS vqueue_meta USING parquet LOCATION '{data}'"])

    return start


def roapi(data, work):
    port = free_port()
    config = work / "roapi.yml"
    config.write_text(f"tables: [{{name: vqueue_meta, uri: '{data}', option: {{format: parquet, use_memory_table: false}}}}]\n")
    return Server(work / "roapi.log", port, installed("roapi") / "roapi", "-c", config, "--addr-flight-sql", f"127.0.0.1:{port}",
                  "--addr-http", f"127.0.0.1:{free_port()}", "--addr-postgres", f"127.0.0.1:{free_port()}")


# By name: what starts it, with the directory of the data and one to work in.
START = {
    "Tributary": Tributary,
    "DuckDB": DuckDB,
    "LakeSail": sail("local"),
    "LakeSail, local cluster": sail("local-cluster"),
    "Ballista": Ballista,
    "ROAPI": roapi,
    "GizmoSQL": lambda *_: installed("gizmosql"),
}


def timed(execute):
    """The time to the last row of a reader of batches, and the rows."""
    begun = time.perf_counter()
    rows = sum(batch.num_rows for batch in execute())
    return time.perf_counter() - begun, rows


def run_adbc(conn, sql):
    with conn.cursor() as cur:
        def execute():
            cur.execute(sql)
            return cur.fetch_record_batch()

        return timed(execute)


def repeated(run, repeat):
    """Fewer repeats, two at least, of what takes long."""
    return measure(run, max(2, min(repeat, int(SECONDS / run()))))


def compare(peers, repeat):
    """The figures by query and peer; a peer that fails has its error there."""
    results = {}
    for name, sql in QUERIES.items():
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


def start_all(data, work, only, stack):
    """The peers that start, and why the others do not."""
    peers, missing = {}, {}
    for name, start in START.items():
        if only and name not in ("Tributary", *only):
            continue
        directory = work / name
        directory.mkdir()
        try:
            peers[name] = start(data, directory)
            stack.callback(peers[name].stop)
        except Unavailable as e:
            missing[name] = str(e)
    return peers, missing


def show(results):
    peers = list(results["queries"]["scopes"])
    print(f"\n{results['rows']} rows, to the last row; min / median in ms (× Tributary's min)\n")
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=6_400_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", type=lambda s: s.split(","), help="peers to compare with; all if not given")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / ".cache" / "bench-peers.json")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # the servers end, too
    data = demo_data(args.rows)
    work = pathlib.Path(tempfile.mkdtemp())
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        peers, missing = start_all(data, work, args.only, stack)
        results = {"rows": args.rows, "machine": platform.machine(), "queries": compare(peers, args.repeat), "missing": missing}
    args.json.write_text(json.dumps(results, indent=1))
    show(results)


if __name__ == "__main__":
    main()
