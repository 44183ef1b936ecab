"""Write a table like ClickBench's as Parquet, split into partitions.

usage: hits_data.py DIRECTORY ROWS PARTITIONS
"""

import pathlib
import re
import sys

import duckdb

SQL = pathlib.Path(__file__).resolve().parents[1] / "testdata" / "hits.sql"


def main(directory: str, rows: int, partitions: int) -> None:
    out = pathlib.Path(directory)
    out.mkdir(parents=True, exist_ok=True)
    sql = re.sub(r"\br\((\d+)\)", r"(hash(i * 64 + \1) >> 1)::BIGINT", SQL.read_text())
    size = -(-rows // partitions)
    for p in range(partitions):
        part = sql.replace("$from", str(p * size)).replace("$to", str(min(rows, (p + 1) * size))).replace("$rows", str(rows))
        duckdb.execute(f"COPY ({part}) TO '{out / 'hits'}-{p}.parquet' (FORMAT parquet)")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
