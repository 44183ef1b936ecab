"""Scripted sessions of more clients, each in an environment of its own that the Makefile makes."""

import csv
import os
import subprocess

import pytest

from conftest import CLIENTS, ROOT


def run(way, *command, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, env=os.environ | way.environment() | env, capture_output=True, text=True, timeout=120)


def test_flightsql_dbapi_and_sqlalchemy(way):
    done = run(way, CLIENTS / "venv-sqlalchemy" / "bin" / "python", ROOT / "cmd" / "e2e" / "python" / "sqlalchemy_session.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.node
def test_node(way):
    done = run(way, "node", ROOT / "cmd" / "e2e" / "node" / "session.js", NODE_PATH=str(CLIENTS / "node" / "node_modules"))
    assert done.returncode == 0, done.stderr


SQLLINE = """\
!tables
SELECT k, count(*) AS n, sum(price) AS total FROM events WHERE id < 14 GROUP BY k ORDER BY k LIMIT 2;
SELECT 'it''s żółć' AS text, NULL AS nothing;
SELECT * FROM no_such_table;
SELECT 1 AS after_an_error;
"""


@pytest.mark.maven
def test_sqlline(way, tmp_path):
    script = tmp_path / "session.sql"
    script.write_text(SQLLINE)
    jars = os.pathsep.join(str(p) for p in (CLIENTS / "jdbc").glob("*.jar"))
    options = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "-Dfile.encoding=UTF-8"]
    # --force goes on after an error, and sqlline then ends with 2.
    done = run(
        way, "java", *options, "-cp", jars, "sqlline.SqlLine", "-u", way.jdbc_url(), "-n", way.user or "", "-p", way.password,
        "--outputFormat=csv", "--fastConnect=true", "--silent=true", "--force=true", f"--run={script}",
    )  # fmt: skip
    rows = list(csv.reader(done.stdout.splitlines(), quotechar="'"))
    assert [r[2] for r in rows if r[:2] == ["tributary", "main"]] == ["events", "types"], done.stdout + done.stderr
    for row in (["k", "n", "total"], ["0", "2", "7.00"], ["1", "2", "9.00"], ["it's żółć", "null"], ["1"]):
        assert row in rows, done.stdout + done.stderr
    assert "no_such_table" in done.stderr
