"""One process of a job that reads parts of a result; it is imported by name in each of them."""

import os

import adbc_driver_flightsql.dbapi as flightsql


def read(uri: str, partition: bytes, options: dict[str, str] | None = None):
    """The rows of a part, and the process that read them."""
    with flightsql.connect(uri, db_kwargs=options) as conn, conn.cursor() as cur:
        cur.adbc_read_partition(partition)
        return os.getpid(), cur.fetch_arrow_table()


def frame(uri: str, partition: bytes, options: dict[str, str] | None = None):
    """The rows of a part as a pandas frame."""
    return read(uri, partition, options)[1].to_pandas()
