"""Results in parts: ADBC's execute_partitions, read by several processes and by Dask."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import adbc_driver_manager
import dask
import duckdb
import pyarrow
import pytest

import partition_worker

FILES, ROWS = 6, 50_000


def write(out, p, first):
    duckdb.sql(
        f"""COPY (SELECT i AS id, i % 7 AS k, 'name ' || i AS name, CAST(i AS DECIMAL(12, 2)) AS price, CAST(i % 200 AS UTINYINT) AS small
            FROM range({first}, {first} + {ROWS}) t(i)) TO '{out}/events-{p}.parquet' (FORMAT parquet)"""
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("data")
    for p in range(FILES):
        write(out, p, p * ROWS)
    time.sleep(3)  # files have a version once they have settled
    return out


@pytest.fixture(scope="module")
def cluster(start_cluster, data):
    cluster = start_cluster([["--table", f"events={data}/events-[{files}].parquet"] for files in ("01", "23", "45")])
    yield cluster
    cluster.stop()


def uri(cluster):
    return f"grpc://{cluster.coordinator.addr}"


def in_parts(cluster, sql, **settings):
    with cluster.connect(**settings) as conn, conn.cursor() as cur:
        return cur.adbc_execute_partitions(sql)


SQL = "SELECT id, name, price * 2 AS twice, small FROM events WHERE k < 5"


def test_several_processes_read_all_rows_once(cluster):
    parts, schema = in_parts(cluster, SQL, partitioned_results="partition")
    assert len(parts) == FILES
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = list(pool.map(partition_worker.read, [uri(cluster)] * len(parts), parts))
    assert len({pid for pid, _ in results}) > 1
    for _, part in results:
        assert part.schema == schema
    union = pyarrow.concat_tables(part for _, part in results).sort_by("id")
    with cluster.connect() as conn, conn.cursor() as cur:
        cur.execute(SQL + " ORDER BY id")
        assert union.equals(cur.fetch_arrow_table())


def test_dask_reads_in_parallel(cluster):
    parts, _ = in_parts(cluster, SQL, partitioned_results="scanner")
    assert len(parts) == 3
    sums = [dask.delayed(lambda f: (len(f), int(f["id"].sum())))(dask.delayed(partition_worker.frame)(uri(cluster), p)) for p in parts]
    total = dask.delayed(lambda found: (sum(n for n, _ in found), sum(s for _, s in found)))(sums)
    rows, ids = dask.compute(total, scheduler="processes", num_workers=3)[0]
    with cluster.connect() as conn, conn.cursor() as cur:
        cur.execute("SELECT count(*), sum(id) FROM events WHERE k < 5")
        assert (rows, ids) == tuple(int(v) for v in cur.fetchone())


def test_ways_to_ask(cluster):
    assert len(in_parts(cluster, SQL)[0]) == 1
    with cluster.connect() as conn:
        with conn.cursor() as cur:
            cur.adbc_statement.set_options(**{"adbc.flight.sql.rpc.call_header.x-tributary-partitioned-results": "partition"})
            assert len(cur.adbc_execute_partitions(SQL)[0]) == FILES
        conn.adbc_connection.set_options(**{"adbc.flight.sql.session.option.partitioned_results": "scanner"})
        with conn.cursor() as cur:
            assert len(cur.adbc_execute_partitions(SQL)[0]) == 3
            assert len(cur.adbc_execute_partitions("SELECT id FROM events WHERE id < ?", (10,))[0]) == 3
            cur.execute(SQL)  # an ordinary read takes all parts
            assert cur.fetch_arrow_table().num_rows == sum(1 for i in range(FILES * ROWS) if i % 7 < 5)


def test_a_changed_table_fails_the_part(cluster, data):
    parts, _ = in_parts(cluster, SQL, partitioned_results="scanner")
    write(data, 5, 10 * ROWS)
    outcomes = []
    for part in parts:
        try:
            outcomes.append(partition_worker.read(uri(cluster), part)[1].num_rows)
        except adbc_driver_manager.OperationalError as e:
            outcomes.append(str(e))
    assert [type(o) for o in outcomes] == [int, int, str] and "changed" in outcomes[2], outcomes
