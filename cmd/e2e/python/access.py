"""How the tests of a client reach one cluster: its address, credentials and certificates."""

import dataclasses
import pathlib

import adbc_driver_flightsql.dbapi as flightsql
import pyarrow.flight as flight
from adbc_driver_flightsql import DatabaseOptions

from conftest import Cluster


@dataclasses.dataclass(frozen=True)
class Access:
    """One way into a cluster. Without a user and a token the cluster asks for neither."""

    name: str
    cluster: Cluster
    user: str | None = None
    password: str = ""
    token: str | None = None
    roots: pathlib.Path | None = None

    @property
    def uri(self) -> str:
        return ("grpc+tls://" if self.roots else "grpc://") + self.cluster.coordinator.addr

    def anonymous(self) -> "Access":
        return dataclasses.replace(self, user=None, password="", token=None)

    def options(self, **extra: str) -> dict[str, str]:
        """Options of the ADBC driver."""
        options = {}
        if self.user is not None:
            options |= {"username": self.user, "password": self.password}
        if self.token is not None:
            options[DatabaseOptions.AUTHORIZATION_HEADER.value] = f"Bearer {self.token}"
        if self.roots:
            options[DatabaseOptions.TLS_ROOT_CERTS.value] = self.roots.read_text()
        return options | extra

    def connect(self, autocommit: bool = True, **extra: str) -> flightsql.Connection:
        return flightsql.connect(self.uri, db_kwargs=self.options(**extra), autocommit=autocommit)

    def query(self, sql: str, params=None, **extra: str):
        with self.connect(**extra) as conn, conn.cursor() as cur:
            cur.execute(sql, params)
            return cur.fetch_arrow_table()

    def jdbc_url(self) -> str:
        url = f"jdbc:arrow-flight-sql://{self.cluster.coordinator.addr}/?useEncryption={str(bool(self.roots)).lower()}"
        if self.token is not None:
            url += f"&token={self.token}"
        return url + (f"&tlsRootCerts={self.roots}&useSystemTrustStore=false" if self.roots else "")

    def flight(self) -> "Flight":
        return Flight(self)

    def environment(self) -> dict[str, str]:
        """What client programs in other languages read."""
        env = {
            "FLIGHT_URI": self.uri,
            "FLIGHT_USER": self.user,
            "FLIGHT_PASSWORD": self.password if self.user is not None else None,
            "FLIGHT_TOKEN": self.token,
            "FLIGHT_TLS_ROOTS": self.roots and str(self.roots),
            "SCANNER_METRICS": " ".join(f"http://127.0.0.1:{s.http_port}/metrics" for s in self.cluster.scanners),
        }
        return {k: v for k, v in env.items() if v is not None}


class Flight:
    """A plain Flight client: what no driver does by itself."""

    def __init__(self, access: Access):
        roots = {"tls_root_certs": access.roots.read_bytes()} if access.roots else {}
        self.client = flight.FlightClient(access.uri.replace("grpc://", "grpc+tcp://"), **roots)
        headers = []
        if access.user is not None:
            headers = [self.client.authenticate_basic_token(access.user, access.password)]
        elif access.token is not None:
            headers = [(b"authorization", f"Bearer {access.token}".encode())]
        self.options = flight.FlightCallOptions(headers=headers, timeout=30)

    def __enter__(self) -> "Flight":
        return self

    def __exit__(self, *_) -> None:
        self.client.close()
