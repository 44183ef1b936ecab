"""Flight SQL commands by hand, for what no driver sends: just enough protobuf."""

import pyarrow as pa
import pyarrow.flight as flight

from access import Flight

# What pyarrow raises for an error of the server.
Errors = (flight.FlightError, pa.ArrowException)

PREFIX = "type.googleapis.com/arrow.flight.protocol.sql."


def varint(n: int) -> bytes:
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def text(field: int, value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def command(name: str, body: bytes = b"") -> bytes:
    return text(1, PREFIX + name) + text(2, body)


def descriptor(name: str, body: bytes = b"") -> flight.FlightDescriptor:
    return flight.FlightDescriptor.for_command(command(name, body))


def fields(message: bytes) -> dict[int, bytes]:
    """The length-delimited fields of a message."""
    out, at = {}, 0

    def read() -> int:
        nonlocal at
        n = shift = 0
        while True:
            byte = message[at]
            n, shift, at = n | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return n

    while at < len(message):
        key, size = read(), read()
        if key & 7 == 2:
            out[key >> 3] = message[at : at + size]
            at += size
    return out


def run(f: Flight, name: str, body: bytes = b"") -> pa.Table:
    """GetFlightInfo, then DoGet of every endpoint, whose schema must be the one promised."""
    info = f.client.get_flight_info(descriptor(name, body), f.options)
    tables = [f.client.do_get(e.ticket, f.options).read_all() for e in info.endpoints]
    for t in tables:
        assert t.schema.equals(info.schema, check_metadata=True), f"{name}: promised {info.schema}, sent {t.schema}"
    return pa.concat_tables(tables) if tables else info.schema.empty_table()


def schema(f: Flight, name: str, body: bytes = b"") -> pa.Schema:
    return f.client.get_schema(descriptor(name, body), f.options).schema


def action(f: Flight, name: str, body: bytes = b"") -> list[bytes]:
    return [r.body.to_pybytes() for r in f.client.do_action(flight.Action(name, body), f.options)]


def prepare(f: Flight, sql: str) -> bytes:
    """The handle of a prepared statement."""
    (result,) = action(f, "CreatePreparedStatement", command("ActionCreatePreparedStatementRequest", text(1, sql)))
    return fields(fields(result)[2])[1]


def close(f: Flight, handle: bytes) -> None:
    action(f, "ClosePreparedStatement", command("ActionClosePreparedStatementRequest", text(1, handle)))
