"""Real servers for the client tests: a coordinator and scanners as processes."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time
import urllib.request

import adbc_driver_flightsql.dbapi as flightsql
import pytest

import clientdata

ROOT = pathlib.Path(__file__).resolve().parents[3]
# What the Makefile fetches for clients in other languages.
CLIENTS = pathlib.Path(os.environ.get("CLIENTS_DIR", ROOT / ".cache"))
BINARY = os.environ.get("TRIBUTARY_BIN", str(ROOT / "bin" / "tributary"))


def pytest_configure(config):
    for tool in ("maven", "node"):
        config.addinivalue_line("markers", f"{tool}: needs what {tool} fetches; `make test` leaves it out where there is none, `make check` does not")


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what: str, check, timeout: float = 30.0) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            if check():
                return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out: {what}")
        time.sleep(0.05)


def http_get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as r:
        return r.read().decode()


class Node:
    """One server process; its log goes to a file that a failing test can show. {addr} in an argument is where it listens."""

    def __init__(self, log: pathlib.Path, *args: str):
        self.port, self.http_port = free_port(), free_port()
        self.log = log
        args = [a.replace("{addr}", f"127.0.0.1:{self.port}") for a in args]
        self.args = [BINARY, *args, "--listen", f"127.0.0.1:{self.port}", "--http", f"127.0.0.1:{self.http_port}"]
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(self.args, stdout=out, stderr=out)
        url = f"http://127.0.0.1:{self.http_port}/healthz"
        wait_for(f"{self.args[1]} is up, see {self.log}", lambda: self.alive() and http_get(url))

    def alive(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"{self.args} ended: {self.log.read_text()[-2000:]}")
        return True

    @property
    def addr(self) -> str:
        return f"127.0.0.1:{self.port}"

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        total = 0.0
        for line in http_get(f"http://127.0.0.1:{self.http_port}/metrics").splitlines():
            if line.startswith(name) and line[len(name)] in " {":
                total += float(line.rsplit(" ", 1)[1])
        return total

    def rss(self) -> int:
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def stop(self, kill: bool = False) -> None:
        if self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
        self.process.wait(timeout=20)


class Cluster:
    def __init__(self, logs: pathlib.Path, scanners: list[list[str]], coordinator: list[str] = ()):
        self.scanners = [
            Node(logs / f"s{i}.log", "scanner", "--name", f"s{i}", *args) for i, args in enumerate(scanners)
        ]
        flags = [f for s in self.scanners for f in ("--scanner", s.addr)]
        self.coordinator = Node(logs / "coordinator.log", "coordinator", "--refresh", "500ms", *flags, *coordinator)
        ready = f"http://127.0.0.1:{self.coordinator.http_port}/readyz"
        wait_for("the coordinator is ready", lambda: http_get(ready))

    def connect(self, **settings: str):
        conn = flightsql.connect(f"grpc://{self.coordinator.addr}")
        with conn.cursor() as cur:
            for name, value in settings.items():
                cur.execute(f"SET {name} = '{value}'")
        return conn

    def open_scans(self) -> float:
        return sum(s.metric("tributary_scanner_open_scans") for s in self.scanners if s.process.poll() is None)

    def stop(self) -> None:
        for node in [self.coordinator, *self.scanners]:
            with contextlib.suppress(subprocess.TimeoutExpired):
                node.stop()


@pytest.fixture(scope="session")
def start_cluster(tmp_path_factory):
    """A function that starts a cluster: a list of scanner arguments, one list a scanner, and those of the coordinator."""
    clusters = []

    def start(scanners: list[list[str]], coordinator: list[str] = ()) -> Cluster:
        cluster = Cluster(tmp_path_factory.mktemp("logs"), scanners, coordinator)
        clusters.append(cluster)
        return cluster

    yield start
    for cluster in clusters:
        cluster.stop()


def file_tables(directory: pathlib.Path, names: list[str], scanner: int, scanners: int) -> list[str]:
    """Flags that give every scanner its share of the partition files NAME-P.parquet."""
    flags = []
    for name in names:
        for path in sorted(directory.glob(f"{name}-*.parquet")):
            if int(path.stem.rsplit("-", 1)[1]) % scanners == scanner:
                flags += ["--table", f"{name}={path}"]
    return flags


@pytest.fixture(scope="session")
def clients_data(tmp_path_factory):
    return clientdata.write(tmp_path_factory.mktemp("clients"))


@pytest.fixture(scope="session")
def plain(start_cluster, clients_data):
    """The way into a cluster that asks for nothing."""
    from access import Access

    return Access("plain", start_cluster(clients_data))


@pytest.fixture(scope="session")
def basic(start_cluster, clients_data, tmp_path_factory):
    """User and password, over TLS; the scanners take their coordinator only."""
    import secured

    return secured.start(start_cluster, clients_data, tmp_path_factory.mktemp("secrets"))


@pytest.fixture(scope="session")
def bearer(basic):
    """The token that a login gives."""
    import secured

    return secured.by_token(basic)


@pytest.fixture(scope="session", params=["plain", "basic", "bearer"])
def way(request):
    """Every way into a cluster."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def conn(way):
    with way.connect() as conn:
        yield conn


@pytest.fixture
def cur(conn):
    with conn.cursor() as cur:
        yield cur
