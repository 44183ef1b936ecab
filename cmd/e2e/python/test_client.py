"""What Python ADBC users meet: connecting, metadata, errors, cancel, memory, loss of a scanner."""

import threading
import time
import warnings

import adbc_driver_flightsql.dbapi as flightsql
import adbc_driver_manager
import duckdb
import pytest

from compare import assert_same
from conftest import wait_for


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("data")
    con = duckdb.connect()
    for p in range(4):
        con.execute(
            f"""COPY (SELECT i AS id, i % 7 AS k, 'name ' || i AS name, i * 1.5 AS x, DATE '2026-01-01' + CAST(i % 90 AS INTEGER) AS d,
                CAST(i AS DECIMAL(12, 2)) AS price, CASE WHEN i % 5 = 0 THEN NULL ELSE i END AS maybe
                FROM range({p} * 250000, ({p} + 1) * 250000) t(i)) TO '{out}/events-{p}.parquet' (FORMAT parquet)"""
        )
    con.execute(f"COPY (SELECT i AS id, 'n' || i AS label FROM range(10) t(i)) TO '{out}/labels.csv' (HEADER)")
    con.execute(f"COPY (SELECT i AS id, i + 1 AS a FROM range(3) t(i)) TO '{out}/drift-0.parquet' (FORMAT parquet)")
    con.execute(f"COPY (SELECT i AS id, 'x' AS a FROM range(3) t(i)) TO '{out}/drift-1.parquet' (FORMAT parquet)")
    (out / "broken.parquet").write_bytes(b"this is not parquet")
    con.execute(f"ATTACH '{out}/store.duckdb' AS store; CREATE TABLE store.items AS SELECT i AS id, i * 2 AS twice FROM range(100) t(i)")
    con.execute("DETACH store")
    return out


@pytest.fixture(scope="module")
def cluster(start_cluster, data, tmp_path_factory):
    config = tmp_path_factory.mktemp("config") / "scanner.yaml"
    config.write_text(f"tables:\n  - name: shop.items\n    partitions:\n      - {{id: '0', duckdb: {{database: {data}/store.duckdb, table: items}}}}\n")
    first = ["--table", f"events={data}/events-[01].parquet", "--table", f"drift={data}/drift-*.parquet", "--config", str(config)]
    second = ["--table", f"events={data}/events-[23].parquet", "--table", f"labels={data}/labels.csv", "--table", f"broken={data}/broken.parquet"]
    cluster = start_cluster([first, second])
    yield cluster
    cluster.stop()


@pytest.fixture
def cur(cluster):
    with cluster.connect() as conn, conn.cursor() as cur:
        yield cur


def test_connect_without_a_warning(cluster):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with flightsql.connect(f"grpc://{cluster.coordinator.addr}") as conn:
            info = conn.adbc_get_info()
    assert info["vendor_name"] == "Tributary"


def test_metadata(cluster):
    with cluster.connect() as conn:
        objects = conn.adbc_get_objects(depth="all").read_all().to_pylist()
        (catalog,) = [c for c in objects if c["catalog_name"] == "tributary"]
        schemas = {s["db_schema_name"]: s for s in catalog["catalog_db_schemas"]}
        tables = {t["table_name"]: t for t in schemas["main"]["db_schema_tables"]}
        assert {"events", "labels"} <= set(tables) and [t["table_name"] for t in schemas["shop"]["db_schema_tables"]] == ["items"]
        assert [c["column_name"] for c in tables["events"]["table_columns"]] == ["id", "k", "name", "x", "d", "price", "maybe"]
        assert conn.adbc_get_table_schema("events").names == ["id", "k", "name", "x", "d", "price", "maybe"]
        assert conn.adbc_get_table_types() == ["TABLE"]


def test_one_schema_everywhere(cur):
    sql = "SELECT *, price * 2 AS p2, count(*) OVER () AS n FROM events WHERE id < {}"
    for rows in (0, 3):
        promised = cur.adbc_execute_schema(sql.format(rows))
        cur.execute(sql.format(rows))
        table = cur.fetch_arrow_table()
        assert table.schema.remove_metadata() == promised.remove_metadata() and table.num_rows == rows


def test_sources_join(cur):
    cur.execute(
        """SELECT l.label, count(*), sum(i.twice) FROM events e JOIN labels l ON e.k = l.id JOIN shop.items i ON i.id = e.k
           GROUP BY ALL ORDER BY 1"""
    )
    assert [r[0] for r in cur.fetchall()] == [f"n{i}" for i in range(7)]


BAD = {
    "SELECT * FROM nowhere": "nowhere",
    "SELECT nope FROM events": "nope",
    "SELEC 1": "SELEC",
    "SELECT * FROM events WHERE": "syntax",
    "SELECT name + 1 FROM events": "+",
    "SELECT CAST(name AS INTEGER) FROM events": "name",
    "SELECT sum(CAST(id AS TINYINT)) FROM events": "INT8",
    "COPY events TO '/tmp/x.csv'": "COPY",
    "ATTACH '/tmp/x.db'": "ATTACH",
    "INSTALL httpfs": "INSTALL",
    "LOAD httpfs": "LOAD",
    "SET memory_limit = '1GB'": "memory_limit",
    "SET enable_external_access = true": "enable_external_access",
    "SELECT * FROM read_parquet('/etc/passwd')": "read_parquet",
    "SELECT * FROM read_csv('/etc/passwd')": "read_csv",
    "SELECT * FROM '/etc/passwd.parquet'": "passwd",
    "SELECT * FROM read_text('/etc/passwd')": "read_text",
    "SELECT * FROM glob('/*')": "glob",
    "SELECT getenv('HOME')": "getenv",
    "CREATE TABLE t (i INTEGER)": "CREATE",
    "DROP TABLE events": "DROP",
    "INSERT INTO events VALUES (1)": "INSERT",
    "UPDATE events SET id = 1": "UPDATE",
    "DELETE FROM events": "DELETE",
    "PRAGMA database_list": "PRAGMA",
    "SELECT 1; SELECT 2": "one statement",
    "SELECT * FROM drift": "drift",
    "SELECT * FROM broken": "broken",
    "-- nothing": "empty",
    "SELECT " + "(" * 800 + "1" + ")" * 800: "nest",
}


@pytest.mark.parametrize("sql", BAD)
def test_bad_input_is_a_typed_error_and_the_server_goes_on(cluster, cur, sql):
    with pytest.raises(adbc_driver_manager.Error) as e:
        cur.execute(sql)
        cur.fetchall()
    assert BAD[sql].lower() in str(e.value).lower(), str(e.value)
    assert "INTERNAL" not in str(e.value) and "UNKNOWN" not in str(e.value), str(e.value)
    cur.execute("SELECT count(*) FROM events")
    assert cur.fetchone() == (1_000_000,)


def test_division_by_zero_is_what_duckdb_says(cur, data):
    sql = "SELECT 1 / 0, 1 // 0, 1 % 0, sum(id / (k - k)), count(id % (k - k)) FROM {}"
    cur.execute(sql.format("events"))
    assert_same(cur.fetchall(), duckdb.sql(sql.format(f"read_parquet('{data}/events-*.parquet')")).fetchall())


def test_cancel_stops_the_scans(cluster):
    with cluster.connect(pushdown="off") as conn, conn.cursor() as cur:
        cur.execute("SELECT count(*) FROM events a, events b WHERE a.x + b.x > 1e12")
        timer = threading.Timer(0.5, cur.adbc_cancel)
        timer.start()
        begun = time.monotonic()
        with pytest.raises(adbc_driver_manager.Error):
            cur.fetchall()
        assert time.monotonic() - begun < 10
    settled(cluster)


def test_a_client_that_goes_stops_its_scans(cluster):
    conn = cluster.connect(pushdown="off")
    cur = conn.cursor()
    cur.execute("SELECT * FROM events")
    cur.fetchone()
    cur.close()
    conn.close()
    settled(cluster)


def settled(cluster):
    wait_for("scans ended", lambda: cluster.open_scans() == 0, timeout=2)
    wait_for("queries ended", lambda: cluster.coordinator.metric("tributary_coordinator_active_queries") == 0, timeout=2)
    wait_for("nothing in flight", lambda: cluster.coordinator.metric("tributary_coordinator_inflight_bytes") == 0, timeout=2)


def test_settings(cluster):
    with cluster.connect(pushdown="off", statement_timeout="200ms") as conn, conn.cursor() as cur:
        cur.execute("SHOW pushdown")
        assert cur.fetchone() == ("off",)
        with pytest.raises(adbc_driver_manager.Error, match="statement_timeout"):
            cur.execute("SELECT count(*) FROM events a, events b WHERE a.x + b.x > 1e12")
            cur.fetchall()
    settled(cluster)


def test_changes_are_noticed(start_cluster, tmp_path):
    con = duckdb.connect()
    con.execute(f"COPY (SELECT 1 AS a) TO '{tmp_path}/t-0.parquet' (FORMAT parquet)")
    cluster = start_cluster([["--table", f"t={tmp_path}/t-*.parquet"]])
    with cluster.connect() as conn, conn.cursor() as cur:
        count = lambda: (cur.execute("SELECT count(*) FROM t"), cur.fetchone()[0])[1]
        assert count() == 1
        con.execute(f"COPY (SELECT 2 AS a) TO '{tmp_path}/t-1.parquet' (FORMAT parquet)")
        wait_for("the new file is seen", lambda: count() == 2, timeout=5)
        cluster.scanners[0].stop(kill=True)

        def refused():
            try:
                count()
            except adbc_driver_manager.Error as e:
                return "s0" in str(e) and "UNAVAILABLE" in str(e).upper() or pytest.fail(str(e))
            return False

        wait_for("the loss is an error that names the scanner", refused, timeout=5)
        cluster.scanners[0].start()

        def back():
            try:
                return count() == 2
            except adbc_driver_manager.Error:
                return False

        wait_for("the scanner is back", back, timeout=5)
    cluster.stop()


def test_a_scanner_that_dies_mid_query_is_an_error(start_cluster, data):
    cluster = start_cluster([["--table", f"events={data}/events-[01].parquet"], ["--table", f"events={data}/events-[23].parquet"]])
    with cluster.connect(pushdown="off") as conn, conn.cursor() as cur:
        cur.execute("SELECT * FROM events")
        reader = cur.fetch_record_batch()
        reader.read_next_batch()
        cluster.scanners[1].stop(kill=True)
        with pytest.raises(Exception) as e:
            for _ in reader:
                time.sleep(0.01)
        assert "s1" in str(e.value), str(e.value)
    cluster.stop()


def test_slow_reader_keeps_memory_bounded(start_cluster, tmp_path):
    con = duckdb.connect()
    for p in range(4):
        con.execute(
            f"COPY (SELECT i, i * 2 AS j, md5(CAST(i AS VARCHAR)) AS a, md5(CAST(i + 1 AS VARCHAR)) AS b FROM range({p} * 1600000, {p + 1} * 1600000) t(i))"
            f" TO '{tmp_path}/big-{p}.parquet' (FORMAT parquet)"
        )
    cluster = start_cluster([["--table", f"big={tmp_path}/big-[01].parquet"], ["--table", f"big={tmp_path}/big-[23].parquet"]])
    for sql in ("SELECT * FROM big", "SELECT i, a || b FROM big WHERE length(a || b) > 0"):
        with cluster.connect() as conn, conn.cursor() as cur:
            cur.execute("SELECT count(*) FROM big")
            assert cur.fetchone() == (6_400_000,)
            idle, peak, rows = cluster.coordinator.rss(), 0, 0
            cur.execute(sql)
            for i, batch in enumerate(cur.fetch_record_batch()):
                rows += batch.num_rows
                if i % 8 == 0:
                    time.sleep(0.01)
                    peak = max(peak, cluster.coordinator.rss())
            assert rows == 6_400_000
            print(f"{sql}: idle {idle >> 20} MiB, peak {peak >> 20} MiB")
            assert peak - idle < 300 << 20, f"{sql}: idle {idle >> 20} MiB, peak {peak >> 20} MiB"
    cluster.stop()
