"""Write the tables of TPC-H or TPC-DS as Parquet, each split into partitions, with DuckDB's generators.

usage: tpc_data.py tpch|tpcds DIRECTORY SCALE_FACTOR PARTITIONS

Runs in an environment of its own: the generators' extensions are packaged for one DuckDB version.
"""

import pathlib
import sys

import duckdb
import duckdb_ext

CALLS = {"tpch": "CALL dbgen(sf={})", "tpcds": "CALL dsdgen(sf={})"}


def extension(suite: str) -> pathlib.Path:
    root = pathlib.Path(list(duckdb_ext.__path__)[0])
    return next(root.glob(f"extensions/v{duckdb.__version__}/*/{suite}.duckdb_extension"))


def main(suite: str, directory: str, scale: str, partitions: int) -> None:
    out = pathlib.Path(directory)
    out.mkdir(parents=True, exist_ok=True)
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    con.execute(f"LOAD '{extension(suite)}'")
    con.execute(CALLS[suite].format(scale))
    for (table,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        rows = con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        size = -(-rows // partitions)
        for p in range(partitions):
            con.execute(
                f"COPY (SELECT * FROM {table} LIMIT {size} OFFSET {p * size})"
                f" TO '{out / table}-{p}.parquet' (FORMAT parquet)"
            )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
