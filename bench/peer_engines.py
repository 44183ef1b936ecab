"""The peers of bench/peers.py: how each is started over the files of a workload, and asked.

An engine is made from a workload and a directory to work in. `run(sql)` returns the seconds to the last row, and
the rows; `stop()` ends it. Unavailable is raised for what is not installed, does not start, or cannot answer.
"""

import json
import os
import pathlib
import select
import subprocess
import time
import urllib.request

from run import QUERIES, ROOT  # first: it finds the modules of the client tests

import adbc_driver_flightsql.dbapi as flightsql
import duckdb
from conftest import Cluster, free_port, http_get, wait_for

PEERS = ROOT / ".cache" / "peers"


class Unavailable(Exception):
    """Why a peer, or a query of a peer, is not in the tables."""


class Workload:
    """Tables, each of several Parquet files, and statements by name."""

    def __init__(self, files, queries, directory):
        self.files, self.queries = files, queries
        self.root = directory  # has a directory of each table's files, which most peers want
        self.directories = {}
        for table, paths in files.items():
            self.directories[table] = directory / table
            self.directories[table].mkdir(parents=True)
            for path in paths:
                os.link(path, self.directories[table] / path.name)
        self.probe = f"SELECT COUNT(*) FROM {next(iter(files))}"


def installed(name):
    """The directory of a peer."""
    if (PEERS / name / ".complete").exists():
        return PEERS / name
    reason = PEERS / f"{name}.missing"
    raise Unavailable(reason.read_text().strip() if reason.exists() else "not installed: run bench/peers.sh")


class Process:
    """A server in a process of its own, with its output in a log."""

    def __init__(self, log, *args, cwd=None, **env):
        with log.open("wb") as out:
            self.process = subprocess.Popen([str(a) for a in args], stdout=out, stderr=out, cwd=cwd, env={**os.environ, **env})
        self.log = log

    def wait_until(self, answers):
        def check():
            if self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode}")
            return answers()

        try:
            wait_for(f"it answers, see {self.log}", check, 120)
        except AssertionError as e:
            self.stop()
            raise Unavailable(str(e)) from e

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class FlightSQL(Process):
    """A Flight SQL server, asked through ADBC."""

    def __init__(self, log, port, *args, setup=(), probe, **rest):
        super().__init__(log, *args, **rest)
        self.wait_until(lambda: self.connect(port, (*setup, probe)))

    def connect(self, port, setup):
        self.conn = flightsql.connect(f"grpc://127.0.0.1:{port}", autocommit=True)
        try:
            for sql in setup:
                run_adbc(self.conn, sql)
        except flightsql.Error:
            self.conn.close()
            return False
        return True

    def run(self, sql):
        return run_adbc(self.conn, sql)


class Tributary:
    def __init__(self, workload, work):
        parts = [(table, path) for table, paths in workload.files.items() for path in paths]
        self.cluster = Cluster(work, [[f for t, p in parts[i::3] for f in ("--table", f"{t}={p}")] for i in range(3)])
        self.conn = self.cluster.connect()

    def run(self, sql):
        return run_adbc(self.conn, sql)

    def stop(self):
        self.conn.close()
        self.cluster.stop()


class DuckDB:
    def __init__(self, workload, _):
        self.con = duckdb.connect()
        for table, directory in workload.directories.items():
            self.con.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{directory}/*.parquet')")

    def run(self, sql):
        return timed(lambda: self.con.execute(sql).to_arrow_reader(64 << 10))

    def stop(self):
        self.con.close()


class Ballista:
    def __init__(self, workload, work):
        args = [installed("ballista") / "bin" / "python", ROOT / "bench" / "peer_ballista.py", workload.root, free_port(), free_port()]
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
    def start(workload, work):
        port = free_port()
        setup = [f"CREATE TABLE IF NOT EXISTS {table} USING parquet LOCATION '{d}'" for table, d in workload.directories.items()]
        return FlightSQL(work / f"sail-{mode}.log", port, installed("sail") / "bin" / "sail", "flight", "server", "--port", port,
                         cwd=work, SAIL_MODE=mode, setup=setup, probe=workload.probe)

    return start


def roapi(workload, work):
    port = free_port()
    config = work / "roapi.yml"
    tables = ", ".join(f"{{name: {t}, uri: '{d}', option: {{format: parquet, use_memory_table: false}}}}" for t, d in workload.directories.items())
    config.write_text(f"tables: [{tables}]\n")
    return FlightSQL(work / "roapi.log", port, installed("roapi") / "bin" / "roapi", "-c", config, "--addr-flight-sql", f"127.0.0.1:{port}",
                     "--addr-http", f"127.0.0.1:{free_port()}", "--addr-postgres", f"127.0.0.1:{free_port()}", probe=workload.probe)


class Trino(Process):
    """A node that coordinates and works, asked through HTTP: rows come as JSON."""

    TYPES = {"UBIGINT": "bigint", "TIMESTAMP": "timestamp(6)"}  # the others are called alike

    def __init__(self, workload, work):
        home, self.url = installed("trino"), f"http://127.0.0.1:{free_port()}"
        self.configure(work, workload.root)
        super().__init__(work / "trino.log", home / "server" / "bin" / "launcher", "run", "--etc-dir", work / "etc", "--data-dir", work / "data",
                         JAVA_HOME=str((home / "java").resolve()))
        self.wait_until(lambda: not json.loads(http_get(f"{self.url}/v1/info"))["starting"])
        try:
            self.create_tables(workload)
        except Unavailable:
            self.stop()
            raise

    def configure(self, work, root):
        (work / "etc" / "catalog").mkdir(parents=True)
        files = {
            "node.properties": "node.environment=bench\n",
            "jvm.config": "-Xmx4G\n--add-modules=jdk.incubator.vector\n",
            "config.properties": f"coordinator=true\nnode-scheduler.include-coordinator=true\nhttp-server.http.port={self.url.rsplit(':', 1)[1]}\n"
                                 f"discovery.uri={self.url}\ncatalog.management=static\n",
            "catalog/hive.properties": "connector.name=hive\nhive.metastore=file\nhive.metastore.catalog.dir=local:///metastore\n"
                                       f"fs.native-local.enabled=true\nlocal.location={root.parent}\nhive.timestamp-precision=MICROSECONDS\n",
        }
        for name, text in files.items():
            (work / "etc" / name).write_text(text)

    def create_tables(self, workload):
        self.run("CREATE SCHEMA IF NOT EXISTS hive.bench")
        for table, directory in workload.directories.items():
            described = duckdb.sql(f"DESCRIBE SELECT * FROM read_parquet('{directory}/*.parquet')").fetchall()
            columns = ", ".join(f"{name} {self.TYPES.get(of, of)}" for name, of, *_ in described)
            location = f"local:///{directory.parent.name}/{table}"
            self.run(f"CREATE TABLE {table} ({columns}) WITH (external_location = '{location}', format = 'PARQUET')")
            self.run(f"ANALYZE {table}")

    def run(self, sql):
        headers = {"X-Trino-User": "bench", "X-Trino-Catalog": "hive", "X-Trino-Schema": "bench"}
        begun, rows = time.perf_counter(), 0
        request = urllib.request.Request(f"{self.url}/v1/statement", sql.strip().rstrip(";").encode(), headers)
        while request:
            with urllib.request.urlopen(request, timeout=120) as response:
                page = json.load(response)
            if error := page.get("error"):
                raise Unavailable(error["message"])
            rows += len(page.get("data") or ())
            request = page.get("nextUri")
        return time.perf_counter() - begun, rows


# By name: what starts it, with a workload and a directory to work in.
START = {
    "Tributary": Tributary,
    "DuckDB": DuckDB,
    "LakeSail": sail("local"),
    "LakeSail, local cluster": sail("local-cluster"),
    "Ballista": Ballista,
    "ROAPI": roapi,
    "Trino": Trino,
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
