"""Connecting through ADBC, with and without credentials."""

import warnings

import adbc_driver_flightsql.dbapi as flightsql
from adbc_driver_flightsql import DatabaseOptions


def test_the_default_connection_gives_no_warning(way):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with way.connect(autocommit=False) as conn, conn.cursor() as cur:
            cur.execute("SELECT 1 AS a")
            assert cur.fetchall() == [(1,)]


def test_credentials_are_welcome_where_none_are_needed(plain):
    for options in ({"username": "u", "password": "p"}, {DatabaseOptions.AUTHORIZATION_HEADER.value: "Bearer t"}):
        with flightsql.connect(plain.uri, db_kwargs=options, autocommit=True) as conn, conn.cursor() as cur:
            cur.execute("SELECT 1 AS a")
            assert cur.fetchall() == [(1,)]


def test_cookies_can_be_enabled(way):
    assert way.query("SELECT 1 AS a", **{DatabaseOptions.WITH_COOKIE_MIDDLEWARE.value: "true"}).num_rows == 1


def test_an_unknown_header_is_ignored(way):
    assert way.query("SELECT 1 AS a", **{DatabaseOptions.RPC_CALL_HEADER_PREFIX.value + "x-unknown": "1"}).num_rows == 1
