"""Sessions and errors through ADBC."""

import adbc_driver_manager as manager
import pyarrow as pa
import pyarrow.flight as flight
import pytest

import flightwire as wire

Code = manager.AdbcStatusCode


def test_the_current_catalog_and_schema(way, conn, cur):
    assert (conn.adbc_current_catalog, conn.adbc_current_db_schema) == ("tributary", "main")
    with way.connect() as other:
        conn.adbc_current_catalog = "tributary"
        conn.adbc_current_db_schema = "main"
        cur.execute("SELECT count(*) FROM events")
        assert cur.fetchone() == (1_000_000,)
        assert other.adbc_current_db_schema == "main"


def test_unknown_options_and_values_are_refused(conn):
    with pytest.raises(manager.Error):
        conn.adbc_connection.set_options(**{"adbc.flight.sql.session.option.no_such_option": "1"})
    with pytest.raises(manager.Error):
        conn.adbc_current_catalog = "no_such_catalog"


def test_options_belong_to_their_connection(way, conn, cur):
    conn.adbc_connection.set_options(**{"adbc.flight.sql.session.option.pushdown": "off"})
    cur.execute("SHOW pushdown")
    assert cur.fetchone() == ("off",)
    assert way.query("SHOW pushdown").column(0).to_pylist() == ["full"]
    assert '"pushdown"' in conn.adbc_connection.get_option("adbc.flight.sql.session.options")


@pytest.mark.parametrize(
    "sql, codes, says",
    [
        ("SELEC 1", {Code.INVALID_ARGUMENT}, "SELEC"),
        ("SELECT * FROM no_such_table", {Code.NOT_FOUND, Code.INVALID_ARGUMENT}, "no_such_table"),
        ("SELECT nope FROM events", {Code.INVALID_ARGUMENT}, "nope"),
        (" ", {Code.INVALID_ARGUMENT}, "empty"),
    ],
)
def test_errors_name_the_culprit_and_the_connection_goes_on(cur, sql, codes, says):
    with pytest.raises(manager.Error) as e:
        cur.execute(sql)
        cur.fetchall()
    assert e.value.status_code in codes and says in str(e.value)
    cur.execute("SELECT 1 AS a")
    assert cur.fetchall() == [(1,)]


def put(f, descriptor):
    writer, _ = f.client.do_put(descriptor, pa.schema([("a", pa.int64())]), f.options)
    writer.write_table(pa.table({"a": [1]}))
    writer.close()


MALFORMED = {
    "a command that is none": lambda f: f.client.get_flight_info(flight.FlightDescriptor.for_command(b"garbage"), f.options),
    "a path": lambda f: f.client.get_flight_info(flight.FlightDescriptor.for_path("a", "b"), f.options),
    "an unknown command": lambda f: f.client.get_flight_info(wire.descriptor("CommandNoSuch"), f.options),
    "a ticket that is none": lambda f: f.client.do_get(flight.Ticket(b"garbage"), f.options).read_all(),
    "an unknown action": lambda f: wire.action(f, "NoSuchAction"),
    "an action with a garbled body": lambda f: wire.action(f, "CreatePreparedStatement", b"\xff\xff"),
    "an upload with a command that is none": lambda f: put(f, flight.FlightDescriptor.for_command(b"garbage")),
    "an upload to a path": lambda f: put(f, flight.FlightDescriptor.for_path("x")),
    "an update of an unknown handle": lambda f: put(f, wire.descriptor("CommandPreparedStatementUpdate", wire.text(1, b"nope"))),
    "an empty statement": lambda f: wire.run(f, "CommandStatementQuery", wire.text(1, "")),
}


@pytest.mark.parametrize("request_", MALFORMED)
def test_malformed_requests_are_refused_and_the_server_goes_on(way, request_):
    with way.flight() as f, pytest.raises(wire.Errors) as e:
        MALFORMED[request_](f)
    # pyarrow goes on with details of its own, which say "internal" for every stream without data.
    assert not str(e.value).startswith(("Flight returned unavailable", "Flight returned internal")), str(e.value)
    assert way.query("SELECT 1 AS a").num_rows == 1


def test_the_actions_are_listed(way):
    with way.flight() as f:
        names = {a.type for a in f.client.list_actions(f.options)}
    assert names >= {"CreatePreparedStatement", "ClosePreparedStatement", "BeginTransaction", "EndTransaction", "CancelFlightInfo", "SetSessionOptions", "GetSessionOptions", "CloseSession"}
