"""A session of flightsql-dbapi and its SQLAlchemy dialect, which need an environment of their own: they pin SQLAlchemy 1.4."""

import os
import urllib.parse

import flightsql.sqlalchemy  # registers the dialect
import sqlalchemy as sa

user, password, token = (os.environ.get(f"FLIGHT_{name}") for name in ("USER", "PASSWORD", "TOKEN"))
uri = urllib.parse.urlsplit(os.environ["FLIGHT_URI"])
secure = uri.scheme == "grpc+tls"
credentials = {"user": user, "password": password} if user else {"token": token} if token else {}


def dbapi():
    options = {"disable_server_verification": True} if secure else {"insecure": True}
    client = flightsql.FlightSQLClient(host=uri.hostname, port=uri.port, **options, **credentials)
    with flightsql.connect(client) as conn, conn.cursor() as cur:
        cur.execute("SELECT k, count(*) AS n FROM events WHERE id < 14 GROUP BY k ORDER BY k LIMIT 2")
        assert [d[0] for d in cur.description] == ["k", "n"]
        assert cur.fetchall() == [[0, 2], [1, 2]]
        try:
            cur.execute("SELECT * FROM no_such_table")
        except Exception as e:
            assert "no_such_table" in str(e), e
        else:
            raise AssertionError("no error")
        cur.execute("SELECT 1 AS a")
        assert cur.fetchall() == [[1]]


def engine() -> sa.engine.Engine:
    query = {"disable_server_verification": "True"} if secure else {"insecure": "True"}
    if token:
        query["token"] = token
    return sa.create_engine(sa.engine.URL.create("datafusion+flightsql", user, password, uri.hostname, uri.port, query=query))


def sqlalchemy():
    e = engine()
    inspector = sa.inspect(e)
    # without users there is a schema of the server's own tables, too
    assert [name for name in inspector.get_schema_names() if name != "system"] == ["main"]
    assert inspector.get_table_names(schema="main") == ["events", "types"]
    columns = {c["name"]: c["type"] for c in inspector.get_columns("events", schema="main")}
    assert list(columns) == ["id", "k", "name", "x", "d", "price", "maybe"] and isinstance(columns["id"], sa.BIGINT)
    events = sa.table("events", sa.column("id"), sa.column("k"), schema="main")
    with e.connect() as conn:
        assert conn.execute(sa.text("SELECT count(*) FROM events")).scalar() == 1_000_000
        groups = sa.select(events.c.k, sa.func.count()).group_by(events.c.k).order_by(events.c.k)
        assert [tuple(r) for r in conn.execute(groups)][0] == (0, 142858)


dbapi()
sqlalchemy()
