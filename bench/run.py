"""Benchmarks of Tributary beside what it is measured against, in one run on one machine.

usage: bench/run.py [--rows N] [--repeat N] [--json FILE]

Everything is warm; the figures are the median and the minimum of the repeats, from the statement to
its last row, and ratios of minima.
Needs bin/tributary, bin/memscanner, and the environment of the client tests.
"""

import argparse
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "cmd" / "e2e" / "python"))

import adbc_driver_flightsql.dbapi as flightsql  # noqa: E402
import duckdb  # noqa: E402
from conftest import BINARY, Cluster, Node, http_get, wait_for  # noqa: E402

SEED = "SELECT scope, COUNT(*) FROM vqueue_meta GROUP BY scope"
QUERIES = {
    "scopes": SEED,
    "statuses": """SELECT status, COUNT(*), SUM(num_inbox), MIN(created_at), MAX(last_finish_at), AVG(num_running)
                   FROM vqueue_meta GROUP BY status""",
    "window": """SELECT status, service_name, COUNT(*), SUM(num_inbox), MIN(created_at), MAX(last_finish_at), AVG(num_running)
                 FROM vqueue_meta WHERE created_at >= TIMESTAMP '2026-07-10' AND created_at < TIMESTAMP '2026-07-13'
                 GROUP BY status, service_name""",
    "limit": "SELECT * FROM vqueue_meta LIMIT 100",
    "distinct": "SELECT COUNT(DISTINCT service_name) FROM vqueue_meta",
    "top": "SELECT id, created_at FROM vqueue_meta WHERE status = 'backing-off' ORDER BY created_at DESC, id LIMIT 20",
    "export": "SELECT * FROM vqueue_meta",
}
# What lets clients read parts of a result from the scanners themselves.
DIRECT = {"partitioned_results": "scanner"}
# A group per row: nothing is gained at the scanners, and nothing must be lost.
UNIQUE = "SELECT COUNT(*), SUM(n) FROM (SELECT id, SUM(num_inbox) AS n FROM vqueue_meta GROUP BY id)"


def measure(run, repeat):
    """Repeat what returns the time it took."""
    run()
    times = [run() for _ in range(repeat)]
    return {"min": min(times), "median": statistics.median(times), "runs": len(times)}


def drain_adbc(conn, sql, expected=None):
    """The time from a statement to its last row, with a cursor of its own."""
    with conn.cursor() as cur:
        begun = time.perf_counter()
        cur.execute(sql)
        rows = sum(batch.num_rows for batch in cur.fetch_record_batch())
        took = time.perf_counter() - begun
    assert expected is None or rows == expected, rows
    return took


def drain_duckdb(con, sql):
    begun = time.perf_counter()
    for _ in con.execute(sql).to_arrow_reader(64 << 10):
        pass
    return time.perf_counter() - begun


def demo_data(rows):
    subprocess.run([BINARY, "demo", "--rows", str(rows), "--dir", str(ROOT / ".cache"), "--listen", "127.0.0.1:0", "--http", ""],
                   check=True, stdout=subprocess.DEVNULL)
    return ROOT / ".cache" / f"vqueue_meta-{rows}"


def secret_file(logs):
    file = logs / "secret"
    file.write_text("what coordinator and scanners of the benchmark share\n")
    return ["--secret-file", str(file)]


def seed_queries(data, logs, repeat):
    files = sorted(data.glob("*.parquet"))
    known = secret_file(logs)
    direct = [*known, "--advertise", "grpc://{addr}"]
    cluster = Cluster(logs, [[*direct, *(f for p in files[i::3] for f in ("--table", f"vqueue_meta={p}"))] for i in range(3)], known)
    con = duckdb.connect()
    con.execute(f"CREATE VIEW vqueue_meta AS SELECT * FROM read_parquet('{data}/*.parquet')")
    results = {}
    try:
        full, off = cluster.connect(), cluster.connect(pushdown="off")
        for name, sql in {**QUERIES, "unique": UNIQUE}.items():
            n = 3 if name in ("export", "unique") else repeat
            results[name] = {
                "tributary": measure(lambda: drain_adbc(full, sql), n),
                "pushdown_off": measure(lambda: drain_adbc(off, sql), 3),
                "duckdb": measure(lambda: drain_duckdb(con, sql), n),
            }
        with cluster.connect(**DIRECT) as conn:
            results["export"]["direct"] = measure(lambda: drain_adbc(conn, QUERIES["export"]), 3)
        served = sum(s.metric('tributary_scanner_scans_total{mode="direct"}') for s in cluster.scanners)
        assert served == 3 * 4, f"{served} parts were read from scanners"
        full.close()
        off.close()
    finally:
        cluster.stop()
    return results


def memory_export(rows, logs):
    """Full export from memory sources, beside bare Flight SQL servers that send the same batches."""
    scanners, known = [], secret_file(logs)
    for i in range(3):
        args = [str(ROOT / "bin" / "memscanner"), "--name", f"m{i}", "--first", str(i), "--step", "3", "--rows", str(rows), *known]
        scanners.append(subprocess.Popen(args, stdout=subprocess.PIPE, text=True))
    try:
        addrs = [s.stdout.readline().split()[1:] for s in scanners]
        flags = [f for a in addrs for f in ("--scanner", a[0])]
        coordinator = Node(logs / "memory-coordinator.log", "coordinator", *flags, *known)
        wait_for("ready", lambda: http_get(f"http://127.0.0.1:{coordinator.http_port}/readyz"))
        bare = [flightsql.connect(f"grpc://{a[1]}", autocommit=True) for a in addrs]

        def drain_bare():
            return sum(drain_adbc(conn, "all") for conn in bare)

        def drain(**settings):
            with flightsql.connect(f"grpc://{coordinator.addr}") as conn:
                for name, value in {"result_types": "raw", **settings}.items():  # raw: the same batches
                    with conn.cursor() as cur:
                        cur.execute(f"SET {name} = '{value}'")
                return measure(lambda: drain_adbc(conn, QUERIES["export"], rows), 3)

        return {"tributary": drain(), "direct": drain(**DIRECT), "bare_flight": measure(drain_bare, 3)}
    finally:
        for s in scanners:
            s.terminate()
            s.wait()
        coordinator.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=6_400_000)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / ".cache" / "bench.json")
    args = parser.parse_args()
    logs = ROOT / ".cache" / "bench-logs"
    logs.mkdir(parents=True, exist_ok=True)
    results = {"rows": args.rows, "machine": platform.machine(), "seeds": seed_queries(demo_data(args.rows), logs, args.repeat)}
    results["memory_export"] = memory_export(args.rows, logs)
    args.json.write_text(json.dumps(results, indent=1))
    show(results)


def show(results):
    ms = lambda r: f"{r['min'] * 1000:9.1f} /{r['median'] * 1000:9.1f}"
    print(f"\n{results['rows']} rows, 3 scanner processes, through Python ADBC, to the last row; min / median in ms\n")
    print(f"{'query':10} {'Tributary':>20} {'pushdown = off':>20} {'DuckDB in process':>20} {'Tributary / DuckDB':>20}")
    for name, r in results["seeds"].items():
        ratio = r["tributary"]["min"] / r["duckdb"]["min"]
        print(f"{name:10} {ms(r['tributary']):>20} {ms(r['pushdown_off']):>20} {ms(r['duckdb']):>20} {ratio:20.2f}")
    e, m = results["seeds"]["export"], results["memory_export"]
    print(f"\nfull export from Parquet, read from the scanners: {ms(e['direct'])}, {e['tributary']['min'] / e['direct']['min']:.2f} times faster")
    print(f"\nfull export from memory: bare Flight SQL server {ms(m['bare_flight'])}")
    for name, how in ("tributary", "through the coordinator"), ("direct", "from the scanners"):
        print(f"{how} {ms(m[name])}: {m['bare_flight']['min'] / m[name]['min']:.2f} of the bare rate")


if __name__ == "__main__":
    main()
