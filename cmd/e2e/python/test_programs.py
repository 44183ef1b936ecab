"""Clients in other languages, as programs that check the server; their results are counted one by one where RESULTS_DIR says so."""

import os
import pathlib
import subprocess

import pytest

from conftest import CLIENTS, ROOT

JDBC = CLIENTS / "jdbc"


@pytest.fixture
def results(tmp_path):
    return pathlib.Path(os.environ.get("RESULTS_DIR", tmp_path)).resolve()


def run(way, command: list[str], timeout: float = 240, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, env=os.environ | way.environment(), text=True, timeout=timeout, **kwargs)


def test_go(way, results):
    command = [os.environ.get("GO", "go"), "test", "-tags", "clients", "-count=1", "-json", "./cmd/e2e/goclient"]
    with (results / f"go-{way.name}.json").open("w") as out:
        done = run(way, command, stdout=out, stderr=subprocess.STDOUT)
    assert done.returncode == 0, pathlib.Path(out.name).read_text()[-4000:]


@pytest.mark.maven
def test_jdbc(way, results):
    (jar,) = JDBC.glob("flight-sql-jdbc-driver-*.jar")
    # Driver 18.3.0 shifts TIME by the zone of the JVM.
    options = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "-Duser.timezone=UTC", "-Xmx1g"]
    done = run(way, ["java", *options, "-cp", f"{jar}{os.pathsep}{JDBC / 'classes'}", "Main", str(results / f"jdbc-{way.name}.xml")], capture_output=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
