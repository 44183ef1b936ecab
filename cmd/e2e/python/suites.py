"""TPC-H, TPC-DS and ClickBench's questions: where their texts and their data are."""

import os
import pathlib
import re

from conftest import ROOT


def queries(suite: str) -> dict[str, str]:
    """The texts by name: q01, q02, …"""
    if suite == "clickbench":
        lines = (ROOT / "cmd" / "e2e" / "testdata" / "clickbench.sql").read_text().splitlines()
        return {f"q{n:02}": line.split(": ", 1)[1] for n, line in enumerate(lines, 1)}
    texts = {p.stem: p.read_text() for p in sorted((ROOT / "server" / "plan" / "testdata" / suite).glob("q*.sql"))}
    assert len(texts) == {"tpch": 22, "tpcds": 99}[suite]
    return texts


def data(suite: str, default_scale: str) -> pathlib.Path:
    return pathlib.Path(os.environ.get(f"{suite.upper()}_DIR", ROOT / ".cache" / f"{suite}-{default_scale}"))


def tables(directory: pathlib.Path) -> list[str]:
    names = sorted({p.stem.rsplit("-", 1)[0] for p in directory.glob("*.parquet")})
    assert names, f"no data in {directory}"
    return names


def create_views(con, directory: pathlib.Path) -> None:
    con.execute("SET TimeZone = 'UTC'")
    for t in tables(directory):
        con.execute(f"CREATE VIEW {t} AS SELECT * FROM read_parquet('{directory}/{t}-*.parquet')")


LIMIT = re.compile(r"\s+LIMIT\s+\d+\s*;?\s*$", re.IGNORECASE)


def without_ties(sql: str, columns: int) -> str:
    """The statement with an order that leaves no two different rows in doubt."""
    limit = LIMIT.search(sql)
    if not limit:
        return sql
    body = sql[: limit.start()]
    order = body[max(body.upper().rfind("ORDER BY"), 0) :]
    if not order.upper().startswith("ORDER BY") or order.count("(") != order.count(")"):
        return sql
    keys = "".join(f", {i + 1}" for i in range(columns))
    return body + keys + limit.group()
