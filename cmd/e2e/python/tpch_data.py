"""Write TPC-H tables as Parquet, each split into partitions, with DuckDB's generator.

usage: tpch_data.py DIRECTORY SCALE_FACTOR PARTITIONS

Runs in an environment of its own: the generator's extension is packaged for one DuckDB version.
"""

import pathlib
import sys

import duckdb
import duckdb_ext

from tpch_tables import TABLES


def extension() -> pathlib.Path:
    root = pathlib.Path(list(duckdb_ext.__path__)[0])
    return next(root.glob(f"extensions/v{duckdb.__version__}/*/tpch.duckdb_extension"))


def main(directory: str, scale: str, partitions: int) -> None:
    out = pathlib.Path(directory)
    done = out / f".complete-{scale}-{partitions}"
    if done.exists():
        return
    out.mkdir(parents=True, exist_ok=True)
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    con.execute(f"LOAD '{extension()}'")
    con.execute(f"CALL dbgen(sf={scale})")
    for table in TABLES:
        rows = con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        size = -(-rows // partitions)
        for p in range(partitions):
            con.execute(
                f"COPY (SELECT * FROM {table} LIMIT {size} OFFSET {p * size})"
                f" TO '{out / table}-{p}.parquet' (FORMAT parquet)"
            )
    done.touch()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
