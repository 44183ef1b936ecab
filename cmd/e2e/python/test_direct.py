"""Parts of results that clients read from the scanners themselves, by several processes and by Dask."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import dask
import pyarrow
import pyarrow.flight as flight
import pytest

import partition_worker
import secured
from access import Access
from conftest import free_port
from test_partitions import FILES, SQL, data  # noqa: F401

ROWS_SQL = "SELECT id, small, name, id AS again FROM events WHERE k < 5"


def tables(data):
    return [["--table", f"events={data}/events-[{files}].parquet"] for files in ("01", "23", "45")]


@pytest.fixture(scope="module")
def open_cluster(start_cluster, data, tmp_path_factory):
    """No TLS; the third scanner advertises an address that nobody answers."""
    secret = tmp_path_factory.mktemp("secret") / "secret"
    secret.write_text("a secret of the coordinator and its scanners\n")
    known = ["--secret-file", str(secret)]
    at = ["grpc://{addr}", "grpc://{addr}", f"grpc://127.0.0.1:{free_port()}"]
    cluster = start_cluster([[*flags, *known, "--advertise", a] for flags, a in zip(tables(data), at)], known)
    yield Access("direct", cluster)
    cluster.stop()


@pytest.fixture(scope="module")
def guarded_cluster(start_cluster, data, tmp_path_factory):
    """TLS, a user, and scanners that know their coordinator."""
    access = secured.start(start_cluster, tables(data), tmp_path_factory.mktemp("secrets"), "--advertise", "grpc+tls://{addr}")
    yield access
    access.cluster.stop()


@pytest.fixture(params=["open_cluster", "guarded_cluster"])
def way(request):
    return request.getfixturevalue(request.param)


def in_parts(way, sql, by="scanner"):
    with way.connect() as conn, conn.cursor() as cur:
        cur.execute(f"SET partitioned_results = '{by}'")
        return cur.adbc_execute_partitions(sql)


def direct_reads(way):
    return [s.metric("tributary_scanner_scans_total{mode=\"direct\"}") for s in way.cluster.scanners]


def test_several_processes_read_from_the_scanners(way):
    parts, schema = in_parts(way, ROWS_SQL, by="partition")
    assert len(parts) == FILES
    through_coordinator = way.cluster.coordinator.metric("tributary_coordinator_rows_received_total")
    before = direct_reads(way)
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as pool:
        results = list(pool.map(partition_worker.read, [way.uri] * len(parts), parts, [way.options()] * len(parts)))
    served = [after - b for after, b in zip(direct_reads(way), before)]
    received = way.cluster.coordinator.metric("tributary_coordinator_rows_received_total") - through_coordinator
    assert served == ([2, 2, 0] if way.name == "direct" else [2, 2, 2])
    assert (received > 0) == (way.name == "direct"), "the coordinator serves what cannot be reached"
    for _, part in results:
        assert part.schema.equals(schema, check_metadata=True)
    union = pyarrow.concat_tables(part for _, part in results).sort_by("id")
    with way.connect() as conn, conn.cursor() as cur:
        cur.execute(ROWS_SQL + " ORDER BY id")
        assert union.equals(cur.fetch_arrow_table())


def test_dask_reads_from_the_scanners(way):
    parts, _ = in_parts(way, ROWS_SQL)
    assert len(parts) == 3
    before = sum(direct_reads(way))
    frames = [dask.delayed(partition_worker.frame)(way.uri, p, way.options()) for p in parts]
    sums = [dask.delayed(lambda f: (len(f), int(f["id"].sum())))(f) for f in frames]
    found = dask.compute(*sums, scheduler="processes", num_workers=3)
    assert sum(direct_reads(way)) - before == (2 if way.name == "direct" else 3)
    with way.connect() as conn, conn.cursor() as cur:
        cur.execute("SELECT count(*), sum(id) FROM events WHERE k < 5")
        assert tuple(map(sum, zip(*found))) == tuple(int(v) for v in cur.fetchone())


def test_what_scanners_cannot_make_is_read_from_the_coordinator(way):
    before = sum(direct_reads(way))
    for sql, rows in ((SQL, None), ("SELECT id, count(*) AS n FROM events GROUP BY id HAVING count(*) = 1", FILES * 50_000)):
        parts, _ = in_parts(way, sql)
        assert len(parts) == 3, sql
        got = [partition_worker.read(way.uri, p, way.options())[1] for p in parts]
        assert rows is None or sum(t.num_rows for t in got) == rows
    assert sum(direct_reads(way)) == before


def test_scanners_serve_strangers_nothing_else(guarded_cluster):
    scanner = guarded_cluster.cluster.scanners[0]
    with flight.FlightClient(f"grpc+tls://{scanner.addr}", tls_root_certs=guarded_cluster.roots.read_bytes()) as client:
        for ticket in (b"events", b"{}", b"\xba\x71\x01\x00"):
            with pytest.raises(flight.FlightUnauthenticatedError):
                client.do_get(flight.Ticket(ticket)).read_all()
    parts, _ = in_parts(guarded_cluster, ROWS_SQL)
    ticket = flight.FlightInfo.deserialize(parts[0]).endpoints[0].ticket
    with flight.FlightClient(guarded_cluster.uri, tls_root_certs=guarded_cluster.roots.read_bytes()) as client:
        with pytest.raises(flight.FlightUnauthenticatedError):  # the coordinator serves a ticket to its user only
            client.do_get(ticket).read_all()
